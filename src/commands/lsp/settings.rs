//! What a client may set, with `initializationOptions` or later.

use crate::args::{bytes, values};
use crate::limits::Budget;
use machine::{MODELS, Model, TSO, model_named};
use program::Int;
use serde_json::Value;
use std::time::Duration;

/// How to look at programs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The memory model.
    pub model: Model,
    /// Values for constants.
    pub defines: Vec<(String, Int)>,
    /// How far a verification may go.
    pub budget: Budget,
    /// How long typing must pause before one starts.
    pub pause: Duration,
    /// Whether to verify at all.
    pub verify: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            model: TSO,
            defines: Vec::new(),
            budget: Budget {
                time: Some(Duration::from_secs(10)),
                memory: bytes(1024),
                states: Some(2_000_000),
            },
            pause: Duration::from_millis(400),
            verify: true,
        }
    }
}

impl Settings {
    /// Reads settings; what cannot be read keeps its usual value and is complained about.
    pub fn read(value: &Value) -> (Settings, Vec<String>) {
        let mut settings = Settings::default();
        let mut complaints = Vec::new();
        let Value::Object(object) = value else {
            if !value.is_null() {
                complaints.push("the settings must be an object".to_string());
            }
            return (settings, complaints);
        };
        for (name, value) in object {
            if let Err(why) = settings.set(name, value) {
                complaints.push(format!("setting `{name}`: {why}"));
            }
        }
        (settings, complaints)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let number = || value.as_u64().ok_or_else(|| "a whole number is needed".to_string());
        match name {
            "model" => {
                let names: Vec<&str> = MODELS.iter().map(|model| model.name()).collect();
                let model = value.as_str().and_then(model_named);
                self.model = model.ok_or_else(|| format!("one of {} is needed", names.join(", ")))?;
            }
            "timeout" => {
                let seconds = value.as_f64().ok_or("a number of seconds is needed")?;
                self.budget.time = Some(values::seconds(&seconds.to_string())?);
            }
            "memory" => self.budget.memory = bytes(number()?),
            "states" => self.budget.states = Some(usize::try_from(number()?).unwrap_or(usize::MAX)),
            "pause" => self.pause = Duration::from_millis(number()?.min(60_000)),
            "verify" => self.verify = value.as_bool().ok_or("true or false is needed")?,
            "define" => self.defines = defines(value)?,
            _ => return Err("there is no such setting".to_string()),
        }
        Ok(())
    }
}

/// `{"N": 3}` or `["N=3"]`.
fn defines(value: &Value) -> Result<Vec<(String, Int)>, String> {
    let wrong = || "an object like {\"N\": 3} is needed".to_string();
    let texts: Vec<String> = match value {
        Value::Object(object) => object
            .iter()
            .map(|(name, value)| match value {
                Value::Number(number) => Ok(format!("{name}={number}")),
                Value::String(number) => Ok(format!("{name}={number}")),
                _ => Err(wrong()),
            })
            .collect::<Result<_, _>>()?,
        Value::Array(list) => {
            let text = |item: &Value| item.as_str().map(str::to_string).ok_or_else(wrong);
            list.iter().map(text).collect::<Result<_, _>>()?
        }
        _ => return Err(wrong()),
    };
    texts.iter().map(|text| values::definition(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_read() {
        let (settings, complaints) = Settings::read(&json!({
            "model": "pso", "timeout": 1.5, "define": {"N": 3, "M": "-4"}, "pause": 10, "states": 7
        }));
        assert_eq!(complaints, [""; 0]);
        assert_eq!(settings.model.name(), "pso");
        assert_eq!(settings.budget.time, Some(Duration::from_millis(1500)));
        assert_eq!(settings.budget.states, Some(7));
        assert_eq!(settings.pause, Duration::from_millis(10));
        assert_eq!(settings.defines, [("N".to_string(), 3.into()), ("M".to_string(), (-4).into())]);
        assert_eq!(Settings::read(&json!({"define": ["N=3"]})).0.defines.len(), 1);
        assert!(Settings::read(&Value::Null).1.is_empty());
    }

    #[test]
    fn wrong_settings_are_complained_about_and_keep_their_usual_value() {
        for wrong in [
            json!(3),
            json!({"model": "arm"}),
            json!({"timeout": -1}),
            json!({"timeout": "x"}),
            json!({"define": {"N": []}}),
            json!({"define": {"N": 1.5}}),
            json!({"define": 3}),
            json!({"verify": 1}),
            json!({"colour": "red"}),
        ] {
            let (settings, complaints) = Settings::read(&wrong);
            assert_eq!(complaints.len(), 1, "{wrong}");
            assert_eq!(settings.model.name(), "tso");
        }
    }
}
