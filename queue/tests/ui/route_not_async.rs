//! E-102: what is no handler of a queue is none of a route.
use queue::Routes;

fn send(_: String) {}

fn main() {
    let _routes: Routes = Routes::new().on("email", send);
}
