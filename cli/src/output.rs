//! How answers and talk are printed: stdout is the answer, stderr the rest.

use std::io::{IsTerminal, Write};

use anyhow::Context;
use cue_report::{Severity, Texts};
use cue_session::Diagnostic;
use serde::Serialize;
use serde_json::Value;

use crate::jsonpath;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Form of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// kubectl's jsonpath.
    JsonPath(String),
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "json" => Ok(Format::Json),
            "yaml" => Ok(Format::Yaml),
            "wide" | "table" | "text" => Ok(Format::Human),
            _ => match text.strip_prefix("jsonpath=") {
                Some(template) => Ok(Format::JsonPath(template.into())),
                None => Err("expected json, yaml or jsonpath=TEMPLATE".into()),
            },
        }
    }
}

/// How a thing is doing; its colour and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Reached: green.
    Good,
    /// Waiting: yellow.
    Waiting,
    /// Failed: red.
    Bad,
    /// Unchanged or unimportant: dim.
    Dim,
    /// A heading: bold.
    Strong,
}

/// Where output goes.
#[derive(Clone, Debug)]
pub struct Out {
    color: bool,
    /// Whether stderr is a terminal: progress is drawn there, else one line a change.
    pub live: bool,
}

impl Out {
    /// Decided once, from the flag and the streams.
    pub fn new(color: Color) -> Self {
        let terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let color = match color {
            Color::Auto => terminal && !plain,
            Color::Always => true,
            Color::Never => false,
        };
        Self { color, live: std::io::stderr().is_terminal() }
    }

    /// Whether there are colours.
    pub fn is_coloured(&self) -> bool {
        self.color
    }

    /// `text` in the colour of `tone`, if colours are on.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let style = match tone {
            Tone::Good => anstyle::AnsiColor::Green.on_default(),
            Tone::Waiting => anstyle::AnsiColor::Yellow.on_default(),
            Tone::Bad => anstyle::AnsiColor::Red.on_default(),
            Tone::Dim => anstyle::Style::new().dimmed(),
            Tone::Strong => anstyle::Style::new().bold(),
        };
        format!("{style}{text}{style:#}")
    }

    /// A line of the answer.
    pub fn line(&self, text: &str) -> anyhow::Result<()> {
        print_to(std::io::stdout().lock(), text)
    }

    /// A line of talk.
    pub fn note(&self, text: &str) {
        // Nobody to tell if stderr is gone.
        let _ = print_to(std::io::stderr().lock(), text);
    }

    /// What is wrong, with the lines it is about.
    pub fn excerpts(&self, wrong: &[Diagnostic], severity: Severity, texts: &dyn Texts) -> String {
        let color = if self.color { cue_report::Color::Ansi } else { cue_report::Color::None };
        let mut reports = cue_report::reports(wrong, texts);
        for it in &mut reports {
            it.severity = severity;
        }
        cue_report::excerpts(&reports, color)
    }

    /// A structured answer.
    pub fn value(&self, format: &Format, value: &impl Serialize) -> anyhow::Result<()> {
        let text = match format {
            Format::Json | Format::Human => serde_json::to_string_pretty(value)?,
            Format::Yaml => serde_yaml::to_string(value)?.trim_end().to_owned(),
            Format::JsonPath(template) => {
                let value: Value = serde_json::to_value(value)?;
                let text = jsonpath::print(template, &value)?;
                return write_all(std::io::stdout().lock(), text.as_bytes());
            }
        };
        self.line(&text)
    }

    /// Rows under headings, columns aligned; the first column is never empty.
    pub fn table(&self, headings: &[&str], rows: &[Vec<String>]) -> anyhow::Result<()> {
        let mut widths: Vec<usize> = headings.iter().map(|it| it.chars().count()).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(visible(cell));
            }
        }
        let mut text = String::new();
        let heading: Vec<String> = headings.iter().map(|it| (*it).to_owned()).collect();
        for row in std::iter::once(&heading).chain(rows) {
            let mut line = String::new();
            for (width, cell) in widths.iter().zip(row) {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width + 3 - visible(cell).min(width + 3)));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        write_all(std::io::stdout().lock(), text.as_bytes())
    }
}

/// Characters of `text` that take room: colour codes do not.
fn visible(text: &str) -> usize {
    let mut count = 0;
    let mut escape = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            _ => count += 1,
        }
    }
    count
}

fn print_to(to: impl Write, text: &str) -> anyhow::Result<()> {
    write_all(to, format!("{text}\n").as_bytes())
}

fn write_all(mut to: impl Write, bytes: &[u8]) -> anyhow::Result<()> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        // `lateen … | head` is no failure.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("writing the answer failed"),
    }
}
