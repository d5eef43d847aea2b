# Shell functions of the action's steps.
reports=$RUNNER_TEMP/warpgrind

# lines_as OPTION TEXT: sets the array `words` to OPTION LINE for each line of TEXT that is not empty.
lines_as() {
  local line
  words=()
  while IFS= read -r line; do
    line=$(sed 's/^[[:space:]]*//; s/[[:space:]]*$//' <<<"$line")
    [ -z "$line" ] || words+=("$1" "$line")
  done <<<"$2"
}

# text_block TITLE FILE: the file in the summary, folded away.
text_block() {
  [ -s "$2" ] || return 0
  {
    printf '<details><summary>%s</summary>\n\n````text\n' "$1"
    head -c 60000 "$2" # a summary has at most 1 MiB
    printf '\n````\n\n</details>\n\n'
  } >>"$GITHUB_STEP_SUMMARY"
}

# profiles NAME: the profiles of a run's processes, reports/NAME.json and reports/NAME.processN.json, in their order.
profiles() {
  find "$reports" -maxdepth 1 \( -name "$1.json" -o -name "$1.process*.json" \) | sort -V
}
