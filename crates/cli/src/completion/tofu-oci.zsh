#compdef tofu-oci
# Completion of tofu-oci for zsh, written by `tofu-oci completions zsh`.
_tofu_oci() {
    local line value entry home=
    local -a open closed
    # The home folder stays as it was typed.
    [[ $PREFIX == '~/'* ]] && home='~/'
    for line in "${(@f)$(TOFU_OCI_COMPLETE=zsh tofu-oci -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        value=${${line%%$'\t'*}#$home}
        # zsh quotes the candidates; these two mean something in a list with descriptions.
        entry=${${value//\\/\\\\}//:/\\:}
        [[ -n ${line#*$'\t'} ]] && entry+=":${line#*$'\t'}"
        # A word that goes on gets no blank.
        if [[ $value == *[/:@=] ]]; then
            open+=("$entry")
        else
            closed+=("$entry")
        fi
    done
    [[ -n $home ]] && compset -P '\~/'
    (( $#open )) && _describe -V 'tofu-oci' open -S ''
    (( $#closed )) && _describe -V 'tofu-oci' closed
}
# In a folder of fpath the file is the function itself; `source` registers it.
if [[ $funcstack[1] == _tofu-oci ]]; then
    _tofu_oci "$@"
else
    compdef _tofu_oci tofu-oci
fi
