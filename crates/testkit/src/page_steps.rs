//! What a page of the documents tells its reader to do.

/// One step of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageStep {
    /// Write a file: a line with its path in backticks and a colon stands above the block.
    File {
        /// The path, as the page has it.
        path: String,
        /// What is in it.
        text: String,
    },
    /// Type a command: a line of a `console` block after `$ `.
    Command {
        /// The command, as it is typed.
        line: String,
        /// What the page says that it prints. `…` stands for what differs from run to run.
        printed: String,
    },
}

/// The steps of a page, in their order. It panics if a block begins with output.
pub fn page_steps(page: &str) -> Vec<PageStep> {
    let mut steps = Vec::new();
    let (mut lines, mut path) = (page.lines(), None);
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if let Some(path) = path.take() {
                steps.push(PageStep::File { path, text: block.join("\n") + "\n" });
            } else if kind == "console" {
                steps.extend(commands(&block));
            }
        } else if !line.is_empty() {
            path = line.strip_prefix('`').and_then(|line| line.strip_suffix("`:")).map(str::to_owned);
        }
    }
    steps
}

fn commands(block: &[&str]) -> Vec<PageStep> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(line), _) => found.push((line.to_owned(), String::new())),
            (None, Some((_, printed))) => *printed += &format!("{line}\n"),
            (None, None) => panic!("output before the first command: {line}"),
        }
    }
    found.into_iter().map(|(line, printed)| PageStep::Command { line, printed }).collect()
}

/// Whether the pieces between the `…` of what a page says are in the text, in their order.
pub fn shows(text: &str, said: &str) -> bool {
    let mut rest = text;
    said.split('…').map(str::trim).filter(|piece| !piece.is_empty()).all(|piece| match rest.split_once(piece) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_commands_are_steps() {
        let page = "# T\n\n`a/b.tf`:\n\n```hcl\nx = 1\n```\n\nText:\n\n```toml\nno\n```\n\n```console\n$ one\nsaid\n$ two\n```\n";
        let command =
            |line: &str, printed: &str| PageStep::Command { line: line.to_owned(), printed: printed.to_owned() };
        let file = PageStep::File { path: "a/b.tf".to_owned(), text: "x = 1\n".to_owned() };
        assert_eq!(page_steps(page), [file, command("one", "said\n"), command("two", "")]);
        assert!(shows("a b c", "a … c") && shows("a b", "…b") && !shows("b a", "a … b"));
    }
}
