//! A broker's worker as the compiler sees it: a body of bytes, and none of the optional capabilities.

use std::collections::VecDeque;
use std::marker::PhantomData;

use queue::core::codec::{Codec, Encoded, Unencodable, Wire};
use queue::core::{
    Capabilities, Clock, DeliveryOf, Demand, Durability, Entry, RequestError, Room, SettlingOf, Tally, Undecodable,
    WorkerError,
};
use queue::Worker;

/// A codec for text.
#[derive(Clone)]
pub struct Text;

impl Codec<String> for Text {
    fn content_type<'a>(&'a self, _: &'a String) -> &'a str {
        "text/plain"
    }
    fn encode(&self, job: &String, body: &mut Vec<u8>) -> Result<(), Unencodable> {
        body.extend_from_slice(job.as_bytes());
        Ok(())
    }
    fn decode(&self, message: Wire<'_>) -> Result<String, Undecodable> {
        Ok(String::from_utf8_lossy(message.body).into())
    }
}

pub struct Broker<J>(Capabilities, Clock, PhantomData<fn() -> J>);

impl<J: Send + 'static> Broker<J> {
    pub fn connect() -> Self
    where
        Text: Codec<J>,
    {
        Self(Capabilities::new("stub", Durability::Broker), Clock::new(), PhantomData)
    }
}

impl<J: Send + 'static> Worker for Broker<J>
where
    Text: Codec<J>,
{
    type Job = J;
    type Payload = Encoded<J, Text>;
    type Receipt = ();
    async fn queue(&self, _: &mut [Entry<J>], _: Room) -> Result<(), WorkerError> {
        Ok(())
    }
    fn demand(&self, _: Demand) {}
    async fn request(&self, _: usize, _: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        Err(RequestError::Closed)
    }
    async fn settle(&self, _: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        Ok(())
    }
    fn close(&self) {}
    async fn shutdown(&self, _: tokio::time::Instant, _: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        Ok(())
    }
    fn capabilities(&self) -> &Capabilities {
        &self.0
    }
    fn clock(&self) -> &Clock {
        &self.1
    }
    fn tally(&self) -> Tally {
        Tally::default()
    }
}
