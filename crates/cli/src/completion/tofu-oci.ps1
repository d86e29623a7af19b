# Completion of tofu-oci for PowerShell, written by `tofu-oci completions powershell`.
Register-ArgumentCompleter -Native -CommandName tofu-oci -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words before the cursor as they are written: nothing of the line is evaluated.
    $words = @(foreach ($element in $commandAst.CommandElements) {
        if ($element.Extent.EndOffset -lt $cursorPosition) {
            if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
                $element.Value
            } else {
                $element.Extent.Text
            }
        }
    })
    $words += "$wordToComplete" -replace "^['`"]", ''

    $previous = $env:TOFU_OCI_COMPLETE
    $env:TOFU_OCI_COMPLETE = 'powershell'
    try {
        $lines = @(& tofu-oci -- $words 2>$null)
    } finally {
        $env:TOFU_OCI_COMPLETE = $previous
    }
    foreach ($line in $lines) {
        $value, $help = "$line" -split "`t", 2
        if (-not $value) { continue }
        if (-not $help) { $help = $value }
        # Whatever is not plain is a string in single quotes, in which nothing is evaluated.
        $text = $value
        if ($value -cnotmatch '\A[A-Za-z0-9_./:\\=+-][A-Za-z0-9_./:\\=+@-]*\z') {
            $text = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($value) + "'"
        }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $help)
    }
}
