# Completion of tofu-oci for bash, written by `tofu-oci completions bash`.
_tofu_oci() {
    # bash breaks words at `:`, `@` and `=`: what stands together on the line is put together again.
    local rest=$COMP_LINE typed= nth=-1 i blank word line
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blank=${rest%%[![:blank:]]*}
        rest=${rest#"$blank"}
        word=${COMP_WORDS[i]}
        rest=${rest#"$word"}
        if ((i == 0)) || [[ -n $blank ]]; then
            ((nth += 1))
            words[nth]=
        fi
        if ((i == COMP_CWORD)); then
            typed=${words[nth]}
            # At a break itself the word to complete is empty, and the break has been typed.
            if [[ -z $2 ]]; then typed+=$word; fi
            words[nth]=$typed$2
        else
            words[nth]+=$word
        fi
    done
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
