//! Writes the seeds of the binary codecs: the order of `seeds/json/order`.
use bytes::Bytes;
use queue_core::codec::{Bincode, Codec, Json, MessagePack, Postcard, Wire};
fn main() {
    let json = Bytes::from(std::fs::read("seeds/json/order").unwrap());
    let json = json.slice(..json.len() - 1);
    let order: fuzz::Order = Json::new().decode(Wire { body: &json, content_type: None, kind: None }).unwrap();
    let write = |name: &str, body: Vec<u8>| std::fs::write(format!("seeds/{name}/order"), body).unwrap();
    let mut b = Vec::new();
    Bincode::new().encode(&order, &mut b).unwrap();
    write("bincode", b);
    let mut b = Vec::new();
    Postcard::new().encode(&order, &mut b).unwrap();
    write("postcard", b);
    let mut b = Vec::new();
    MessagePack::new().encode(&order, &mut b).unwrap();
    write("messagepack", b);
}
