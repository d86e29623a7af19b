# Completion of tofu-oci for bash, written by `tofu-oci completions bash`.

# What a word of the line means, in $plain, and the quote that is open at its end, in $quote. Nothing is expanded or run.
_tofu_oci_read() {
    local rest=$1 one
    plain='' quote=''
    while [[ -n $rest ]]; do
        one=${rest:0:1}
        rest=${rest:1}
        case $quote$one in
            "'" | '"') quote=$one ;;
            "''" | '""') quote= ;;
            \\ | '"'\\)
                if [[ -n $quote && $rest != [\\\"\$\`]* ]]; then
                    plain+=\\
                else
                    plain+=${rest:0:1}
                    rest=${rest:1}
                fi
                ;;
            *) plain+=$one ;;
        esac
    done
}

# Text for the line, in $quoted: bash reads it as itself and as nothing else, after the quote that is open.
_tofu_oci_quote() {
    local rest=$1 open=$2 one
    quoted=
    while [[ -n $rest ]]; do
        one=${rest:0:1}
        rest=${rest:1}
        case "$open $one" in
            "' '") quoted+="'\\''" ;;
            "' "*) quoted+=$one ;;
            # A backslash before it would stay.
            '" !') quoted+="\"'!'\"" ;;
            '" '[\"\$\`\\]) quoted+=\\$one ;;
            '" '*) quoted+=$one ;;
            # Other bytes than those of ASCII are parts of letters.
            ' '[a-zA-Z0-9_./:@%+=,-] | ' '[!$' '-'~']) quoted+=$one ;;
            *) quoted+=\\$one ;;
        esac
    done
    # bash closes the quote, unless the text ends as if it had done so.
    if [[ -n $open && $quoted == *"$open" ]]; then quoted+=$open; fi
}

_tofu_oci() {
    # Bytes, in the order of ASCII.
    local LC_ALL=C
    # bash breaks words at `:`, `@` and `=`: what stands together on the line is put together again.
    local rest=${COMP_LINE:0:COMP_POINT} nth=-1 i blank word line typed plain quote quoted open
    local -a words=() asked=()
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
    for word in "${words[@]}"; do
        _tofu_oci_read "$word"
        asked+=("$plain")
    done
    open=$quote
    # What bash leaves as it is; it replaces the rest, $2.
    _tofu_oci_read "${words[nth]%"$2"}"
    typed=$plain
    COMPREPLY=()
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        [[ $line == "$typed"* ]] || continue
        _tofu_oci_quote "${line#"$typed"}" "$open"
        # The home folder, as it was typed.
        if [[ $2 == '~/'* && $quoted == '\~/'* ]]; then quoted=${quoted:1}; fi
        COMPREPLY+=("$quoted")
    done < <(TOFU_OCI_COMPLETE=bash tofu-oci -- "${asked[@]}" 2>/dev/null)
    # A word that goes on gets no blank.
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/:@=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
# The order of the candidates is that of the program: the newest version comes first. bash before 4.4 sorts them.
complete -o nosort -F _tofu_oci tofu-oci 2>/dev/null || complete -F _tofu_oci tofu-oci
