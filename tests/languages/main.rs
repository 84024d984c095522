//! What the languages mean, how errors look, and what no text may do.

mod c_fewer_states;
mod c_language;
mod c_views;
mod common;
mod explore;
mod fuzz;
mod fw_claims;
mod fw_data;
mod fw_errors;
mod fw_functions;
mod fw_hostile;
mod fw_index;
mod fw_interface;
mod fw_meaning;
mod fw_reference;
mod fw_round_trip;
mod fw_statements;
mod insert;
mod litmus_corpus;
mod litmus_language;
mod rmm_corpus;
mod rmm_language;
mod trencher_corpus;
mod trencher_language;
mod units;
mod written_fences;
