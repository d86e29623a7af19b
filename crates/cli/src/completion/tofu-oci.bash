# Completion of tofu-oci for bash, written by `tofu-oci completions bash`.
_tofu_oci() {
    # bash breaks words at `:`, `@` and `=`: what stands together on the line is put together again.
    local rest=${COMP_LINE:0:COMP_POINT} nth=-1 i blank word line typed
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blank=${rest%%[![:blank:]]*}
        rest=${rest#"$blank"}
        if ((i == 0)) || [[ -n $blank ]]; then
            ((nth += 1))
            words[nth]=
        fi
        word=${COMP_WORDS[i]}
        # The last word ends at the cursor.
        if ((i == COMP_CWORD)); then word=$rest; fi
        words[nth]+=$word
        rest=${rest#"$word"}
    done
    words[nth]=${words[nth]#[\'\"]}
    # What bash leaves as it is; it replaces the rest, $2.
    typed=${words[nth]%"$2"}
    for ((i = 0; i < nth; i++)); do
        word=${words[i]}
        case $word in \'*\' | \"*\") words[i]=${word:1:${#word}-2} ;; esac
    done
    COMPREPLY=()
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        [[ $line == "$typed"* ]] || continue
        line=${line#"$typed"}
        [[ $line == *[[:space:]]* ]] && printf -v line '%q' "$line"
        COMPREPLY+=("$line")
    done < <(TOFU_OCI_COMPLETE=bash tofu-oci -- "${words[@]}" 2>/dev/null)
    # A word that goes on gets no blank.
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/:@=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
# The order of the candidates is that of the program: the newest version comes first. bash before 4.4 sorts them.
complete -o nosort -F _tofu_oci tofu-oci 2>/dev/null || complete -F _tofu_oci tofu-oci
