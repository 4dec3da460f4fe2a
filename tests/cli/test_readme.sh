#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What README.md shows is true: its model compiles to the example's program, its configuration trains, its
# error looks as printed, its commands and files exist.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

readme=$top_srcdir/README.md

# block FIRST LAST: the indented lines from the first that begins with FIRST to the first that begins with LAST.
block() {
	awk -v first="    $1" -v last="    $2" 'index($0, first) == 1 { on = 1 } on { print substr($0, 5) } on && index($0, last) == 1 { exit }' "$readme"
}

block 'QCNN 1;' 'observe z(w);' >cluster.qcnn
tap_ok "the model compiles" "$QCNN" compile --emit asm cluster.qcnn -o readme.asm
tap_ok "so does the example" "$QCNN" compile --emit asm "$top_srcdir/examples/cluster/cluster.qcnn" -o example.asm
for name in readme example; do   # without comments and places
	sed 's/ *;.*//; s/ span [0-9]*//; /^spans$/,$d' $name.asm >$name.text
done
tap_ok "the program has applies" grep -q discard readme.text
tap_same readme.text example.text "both are one program, but for the places in the text"

block 'model:' '  seed: 7' >config.yaml
tap_exit 0 "the configuration trains" "$QCNN" train config.yaml
# Every line that a run prints, numbers and the hour masked; the restarts in between are one line of README, and what ends
# in one of its lines with ... is not compared.
masked() { sed 's/[0-9][0-9.-]*\( m*s$\)*/N/g' "$1"; }
sed '/^restart [3-8]\//d; s/^restart 2.*/&\n…/' err >lines
block 'restart 1/8' 'qcnn train: the report is in' >block
masked block >shown
masked lines | awk 'NR == FNR { shown[FNR] = $0; next } sub(/ …$/, "", shown[FNR]) { $0 = substr($0, 1, length(shown[FNR])) " …" } { print }' shown - >told
tap_ok "README shows a run's lines" [ "$(wc -l <shown)" -ge 7 ]
tap_same told shown "a run prints the lines that are shown, but for numbers"
tap_ok "its folder has the shown name" test -n "$(ls -d runs/"$(sed -n 's,.*weights are in runs/\([a-z]*\)-[0-9].*,\1,p' "$readme")"-*)"
cp runs/latest/weights.bin want.bin
tap_exit 0 "qcnn train --hosts local:2 config.yaml" "$QCNN" train --hosts local:2 config.yaml
tap_ok "gives the same file" cmp want.bin runs/latest/weights.bin
tap_ok "qcnn infer runs/latest" "$QCNN" infer runs/latest

# The first hour, line by line, in a folder that has ./qcnn as ./bootstrap leaves it, by a shell that finds no other.
mkdir clone
ln -s "$QCNN" clone/qcnn
block 'PATH=' 'eval' | sed 's/  *# .*//' >hour
tap_is "$(wc -l <hour | tr -d ' ')" 15 "the first hour has fifteen lines"
tap_has "$readme" '`./bootstrap` builds the program as `./qcnn`' "README says where the program is"
before=$PATH
PATH=/usr/bin:/bin
cd clone
while IFS= read -r line; do
	case $line in
	eval*) command -v bash >/dev/null && tap_ok "$line" bash -c "set -e; $line; complete -p qcnn" ;;
	*) eval "$line" >hour.out 2>hour.err </dev/null
		tap_result $? "$line" || tap_note "$(cat hour.err)" ;;
	esac
done <../hour
tap_is "$(command -v qcnn)" "${PWD%/mine}/qcnn" "the program was the one that was built"
cd ../..
PATH=$before

# The first gate named cx, misspelt, on line 24 as shown.
awk 'NR < 24 && /cx source/ { next } { print } NR == 22 { print "block wrong a, b {"; print "      cnott a, b; }" }' cluster.qcnn >wrong.qcnn
"$QCNN" check wrong.qcnn 2>err
block 'error\[Q0107\]' '   = help' >shown
tap_has err 'error[Q0107]: unknown gate `cnott`' "the error's first line"
tap_has err '^^^^^ no gate or block of this name' "its caret and label"
tap_has err '= help: did you mean `cnot`? here it is called `cx`' "its help"
tap_ok "qcnn explain Q0107" "$QCNN" explain Q0107

"$QCNN" check cluster.qcnn >check
for line in 'circuit   8 qubits, 52 operations, 1 readout' 'input     x [8]' 'param     conv[0].t [15] uniform' 'weights   63'; do
	tap_has "$readme" "    $line" "README shows: $line"
	tap_has check "$line" "qcnn check prints: $line"
done

for line in './bootstrap && ./qcnn train examples/cluster/config.yaml' './bootstrap && make check'; do
	tap_has "$readme" "    $line" "README has the line: $line"
done
for file in bootstrap LICENSE CONTRIBUTING.md NEWS man/qcnn.1; do
	tap_ok "$file is there" test -f "$top_srcdir/$file" -o -f "$top_builddir/$file"
done
for dir in $(sed -n 's/^| `\([a-z]*\)\/` |.*/\1/p' "$readme"); do
	tap_ok "the folder $dir is there" test -d "$top_srcdir/$dir"
done

tap_done
