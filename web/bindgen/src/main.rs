//! `fencewright-bindgen MODULE FOLDER`: a module as pages load it, and the JavaScript that calls it.

use std::error::Error;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &args[..] else { return Err("which module, and which folder?".into()) };
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name("fencewright")
        .typescript(false)
        .remove_name_section(true)
        .web(true)?;
    bindgen.generate(folder)?;
    Ok(())
}
