# SPDX-License-Identifier: Apache-2.0
# The source with a mutant: awk -v line=N -f apply.awk FILE, with the line before and after in the environment as `before`
# and `after`. Of several equal lines the nearest to N is replaced; exit status 1 where there is none.
{ text[NR] = $0; sub(/^[ \t]+/, "", $0) }
$0 == ENVIRON["before"] {
	distance = NR > line ? NR - line : line - NR
	if (!at || distance < least) { at = NR; least = distance }
}
END {
	if (!at) exit 1
	indent = substr(text[at], 1, length(text[at]) - length(ENVIRON["before"]))
	text[at] = indent ENVIRON["after"]
	for (i = 1; i <= NR; i++) print text[i]
}
