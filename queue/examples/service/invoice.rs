//! Invoices: a job that computes, on a thread of its own.

use std::fmt::Write;

use queue::{Context, Error};
use serde::{Deserialize, Serialize};

use crate::outbox::Outbox;

/// The kind of these jobs.
pub(crate) const KIND: &str = "invoice";

/// What a customer has to pay.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Invoice {
    customer: String,
    items: Vec<Item>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    name: String,
    cents: u64,
}

/// Adds it up, and writes it to the outbox.
#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
pub(crate) fn make(invoice: Invoice, cx: Context<Outbox>) -> Result<(), Error> {
    let (id, outbox) = (cx.id(), cx.state().clone());
    let Invoice { customer, items } = invoice;
    let mut text = format!("Invoice {id} for {customer}\n\n");
    let mut total = 0_u64;
    for Item { name, cents } in items {
        total = total.checked_add(cents).ok_or_else(|| Error::permanent("the total is beyond all numbers"))?;
        writeln!(text, "{:>12}  {name}", amount(cents))?;
    }
    writeln!(text, "{:>12}  total", amount(total))?;
    outbox.put(&format!("{id}.txt"), text.as_bytes())?;
    Ok(())
}

fn amount(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
