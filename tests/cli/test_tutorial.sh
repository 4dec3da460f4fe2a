# SPDX-License-Identifier: Apache-2.0
# The tutorial of qcnn-lang(7): its files are saved, its commands run in their order in one folder, and they print what the
# page shows, numbers to six digits.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# A file is a display behind `.Pa NAME`, what a command prints the display behind `.Dl $ COMMAND`.
sed -n '/^\.Sh TUTORIAL/,/^\.Sh EXAMPLES/p' "$top_builddir/man/qcnn-lang.7" | sed 's/\\&//g; s/\\-/-/g; s/\\e/\\/g' |
	awk '/^\.Pa / { file = $2 } /^\.Dl \$ / { n++; sub(/^\.Dl \$ /, ""); print > ("command." n); file = "want." n }
		/^\.Bd / && file { on = 1; next } /^\.Ed/ { on = 0; file = "" } /^\.S[hs]/ { file = "" } on { print > file }'
tap_ok "it has files and commands" test -s small.qcnn -a -s command.10

rounded() { sed 's/[][{},:]/ & /g' "$1" | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9]+\.[0-9]+$/) $i = sprintf("%.6f", $i); $1 = $1; print }'; }
qcnn() { "$QCNN" "$@"; }
n=1
while [ -e "command.$n" ]; do
	eval "$(cat "command.$n")" >out 2>err
	tap_result $? "$(cat "command.$n")" || sed 's/^/# /' err
	if [ -e "want.$n" ]; then
		rounded out >got
		rounded "want.$n" >want
		tap_same got want "prints what the page shows"
	fi
	n=$((n + 1))
done
tap_done
