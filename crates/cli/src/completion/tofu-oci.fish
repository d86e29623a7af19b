# Completion of tofu-oci for fish, written by `tofu-oci completions fish`. fish quotes the candidates.
function __tofu_oci_candidates
    set -l current (commandline --current-token --cut-at-cursor)
    # Its meaning, also of one with an open quote; nothing is expanded or run.
    set -l word (string unescape -- "$current"; or string unescape -- "$current'"; or string unescape -- "$current\"")
    TOFU_OCI_COMPLETE=fish tofu-oci -- (commandline --current-process --tokenize --cut-at-cursor) "$word" 2>/dev/null
end
complete --keep-order --exclusive --command tofu-oci --arguments '(__tofu_oci_candidates)'
