//! What every codec keeps: it reads what it wrote, refuses the rest, and never shows it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(any(feature = "json", feature = "bincode", feature = "postcard", feature = "messagepack"))]

/// Writes each test once a codec: `json::name`, `bincode::name`, ….
macro_rules! each_codec {
    ($($(#[$attribute:meta])* fn $name:ident($codec:ident) $body:block)*) => {
        each_codec!(@module "json", json, queue_core::codec::Json; $($(#[$attribute])* fn $name($codec) $body)*);
        each_codec!(@module "bincode", bincode, queue_core::codec::Bincode; $($(#[$attribute])* fn $name($codec) $body)*);
        each_codec!(@module "postcard", postcard, queue_core::codec::Postcard; $($(#[$attribute])* fn $name($codec) $body)*);
        each_codec!(@module "messagepack", messagepack, queue_core::codec::MessagePack; $($(#[$attribute])* fn $name($codec) $body)*);
    };
    (@module $feature:literal, $module:ident, $type:ty; $($(#[$attribute:meta])* fn $name:ident($codec:ident) $body:block)*) => {
        #[cfg(feature = $feature)]
        mod $module {
            use super::*;
            $(
                $(#[$attribute])*
                #[test]
                fn $name() {
                    let $codec = <$type>::new();
                    $body
                }
            )*
        }
    };
}

mod bounds;
mod foreign;
mod hostile;
mod jobs;
#[cfg(any(feature = "bincode", feature = "postcard", feature = "messagepack"))]
mod lengths;
mod round_trip;
mod routed;
mod secrecy;
