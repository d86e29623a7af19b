//! A session as a picture that plays: SVG whose lines appear one after the other, drawn from what was really printed.

use std::fmt::Write as _;

/// Characters of a line; a longer one is cut.
const WIDTH: usize = 112;
/// Seconds from a command to its output, and from an output to the next command.
const PAUSES: (f64, f64) = (0.8, 2.2);
/// Units of a character, and from line to line.
const CELL: (f64, f64) = (8.4, 19.0);
/// Lines between the edge and the text.
const MARGIN: f64 = 16.0;

/// The lines so far, each with the second in which it appears.
#[derive(Debug, Default)]
pub(super) struct Recording {
    lines: Vec<(f64, &'static str, String)>,
    now: f64,
}

impl Recording {
    /// A sentence about what comes next, or an empty line.
    pub(super) fn say(&mut self, text: &str) {
        self.now += PAUSES.1;
        self.add("", "");
        self.add("said", &format!("# {text}"));
    }

    /// A command and what it printed.
    pub(super) fn command(&mut self, line: &str, printed: &str) {
        self.add("typed", &format!("$ {line}"));
        self.now += PAUSES.0;
        for line in printed.lines() {
            self.add("", line);
        }
    }

    fn add(&mut self, class: &'static str, text: &str) {
        let cut: String = text.chars().take(WIDTH - 1).collect();
        let text =
            if cut.len() < text.len() && text.chars().count() > WIDTH { format!("{cut}…") } else { text.to_owned() };
        self.lines.push((self.now, class, text));
    }

    /// The picture. Whoever wants no motion sees all lines at once.
    pub(super) fn svg(&self) -> String {
        let lines: Vec<_> = self.lines.iter().skip_while(|(_, _, text)| text.is_empty()).collect();
        let (width, height) = (WIDTH as f64 * CELL.0 + 2.0 * MARGIN, lines.len() as f64 * CELL.1 + 2.0 * MARGIN);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-label=\"A session of tofu-oci\">\n<style>\n\
             rect {{ fill: #0d1117; }}\n\
             text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre; \
             animation: appear 0.01s both; }}\n\
             .said {{ fill: #8b949e; }}\n.typed {{ fill: #7ee787; }}\n\
             @keyframes appear {{ from {{ opacity: 0; }} to {{ opacity: 1; }} }}\n\
             @media (prefers-reduced-motion: reduce) {{ text {{ animation: none; }} }}\n\
             </style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\"/>\n"
        );
        for (nth, (second, class, text)) in lines.into_iter().enumerate() {
            let y = MARGIN + (nth as f64 + 0.75) * CELL.1;
            // Writing to a String cannot fail.
            let _ = writeln!(
                svg,
                "<text x=\"{MARGIN}\" y=\"{y:.1}\" class=\"{class}\" style=\"animation-delay:{second:.1}s\" xml:space=\"preserve\">{}</text>",
                escaped(text)
            );
        }
        svg + "</svg>\n"
    }
}

/// A text as XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_appear_in_turn_and_no_text_is_markup() {
        let mut recording = Recording::default();
        recording.say("Publish <it>");
        recording.command("tofu-oci push", &"&".repeat(WIDTH + 1));
        let svg = recording.svg();
        let at = |text: &str| svg.find(text).expect(text);
        assert!(
            at("# Publish &lt;it&gt;") < at("$ tofu-oci push") && at("$ tofu-oci push") < at("&amp;&amp;"),
            "{svg}"
        );
        assert_eq!(svg.matches("&amp;").count(), WIDTH - 1);
        assert!(svg.contains("animation-delay:2.2s") && svg.contains("animation-delay:3.0s"), "{svg}");
    }
}
