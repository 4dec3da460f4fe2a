# SPDX-License-Identifier: Apache-2.0
# Text of files, of records of runs and of other processes reaches no terminal as it is: control characters, escape
# sequences, marks of direction and bytes that are no UTF-8 are made visible.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
"$QCNN" train -q --set=log.dir=runs config.yaml 2>err
run=$(ls -d runs/cluster-*)
esc=$(printf '\033')
# clean FILE...: no control character but tabs and line ends, nothing of U+0080-009F, U+202E.
clean() {
	! LC_ALL=C grep -q -e "$(printf '[\001-\010\013-\037\177]')" -e "$(printf '\302[\200-\237]')" -e "$(printf '\342\200\256')" -e "$(printf '\377')" "$@"
	tap_result $? "$tap_what: nothing of it reaches a terminal" || sed -n l "$@" | head -20
}
says() {
	tap_what=$1
	shift
	"$@" >out 2>&1 </dev/null
	clean out
}
zeros=0000000000000000000000000000000000000000000000000000000000000000
edit() {
	LC_ALL=C sed -i -e 's/"sha256":"[0-9a-f]*","s/"sha256":"'$zeros'","s/' -e "$2" "$1"
	edit_digest=$(sha256sum "$1" | cut -d ' ' -f 1)
	LC_ALL=C sed -i -e 's/"sha256":"'$zeros'","s/"sha256":"'"$edit_digest"'","s/' "$1"
}

# Metadata of weights: a key of equal length takes the place of another.
cp "$run/weights.bin" bad.bin
edit bad.bin 's/"numerical_version":/"\\u001b]0;\\u202exx":/'
says "weights show" "$QCNN" weights show bad.bin
tap_has out '\x1b]0;' "the escape is shown"
says "weights show --json" "$QCNN" weights show --json bad.bin
says "weights diff" "$QCNN" weights diff bad.bin "$run/weights.bin"
says "infer -v" "$QCNN" infer -v bad.bin

# A record.
sed -i 's/"state": "[a-z]*"/"state":"\\u001b[2Jgone\\u202e\\u009b"/; s/"host": "[^"]*"/"host":"\\u001b]0;title\\u0007"/' "$run/run.json"
for words in "list" "show $run" "compare $run $run/../${run#*/}" "list --json" "show --json $run"; do says "runs $words" "$QCNN" runs $words; done
says "runs show" "$QCNN" runs show "$run"
tap_has out '\x1b]0;title\x07' "and shown"

# Names of files and columns, words of a configuration, and a model.
mv "$run" "runs/x${esc}[31m"
says "a run's name" "$QCNN" runs list
says "a file's name" "$QCNN" weights show "none${esc}[31m.bin"
printf 'a,b\033[2J\377,label\n0.1,0.2,1\nx\033]0;y\007,0.4,0\n' >bad.csv
says "data" "$QCNN" train --set=log.dir=new --set=data.train=bad.csv table.yaml
sed "s/label: label/label: \"l\\\\e[2J\"/" table.yaml >bad.yaml
says "a configuration" "$QCNN" train --set=log.dir=new bad.yaml
printf 'QCNN 1;\nqubit[2] q; // \033[2J \302\233 \342\200\256 \377\nh\342\200\256 q[0]; foo\033 q;\n' >bad.qcnn
says "a model" "$QCNN" check bad.qcnn

# A worker's lines.
printf '#!/bin/sh\nprintf "\\033]0;owned\\007 \\342\\200\\256 no\\n" >&2\nexit 1\n' >evil
chmod +x evil
says "a worker" "$QCNN" train --set=log.dir=new --launcher="exec:$PWD/evil" --hosts=somewhere --start-seconds=1 config.yaml
tap_has out '0;owned \u202e no' "its line is shown"
tap_done
