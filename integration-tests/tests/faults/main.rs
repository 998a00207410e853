//! Each fault tool against something that it breaks: a raw socket, a child process, a real server.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod process;
mod proxy;
mod proxy_redis;
mod proxy_shape;
mod redis;
mod wire;
