//! Every model, with the independent interpreter that it is compared with.

use machine::{MODELS, Model};

/// The names of all models.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|model| model.name())
}

/// The names of the models in which stores wait in buffers.
pub fn buffered() -> impl Iterator<Item = &'static str> {
    MODELS.iter().filter(|model| model.buffers()).map(|model| model.name())
}

/// Every registered model with its reference. A model without one fails the tests that ask: they
/// must not pass over it.
pub fn models() -> impl Iterator<Item = (Model, reference::ReferenceModel)> {
    let independent = |model: Model| reference::ReferenceModel::named(model.name());
    MODELS.iter().map(move |model| {
        let reference = independent(*model).unwrap_or_else(|| panic!("{} has no reference", model.name()));
        (*model, reference)
    })
}
