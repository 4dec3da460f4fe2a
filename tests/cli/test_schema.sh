#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every key of the schema: qcnn-config(5) has its unit, type, range, default and an example that works, and
# every wrong value is refused with its place and what is allowed.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

echo 'model: {file: one.qcnn}' >config.yaml
page=$top_builddir/man/qcnn-config.5
[ -f "$page" ] || page=$top_srcdir/man/qcnn-config.5

# The items of keys, a line each: KEY, a tab, its text.
awk '/^\.Ss (data|train|run|cluster|log|model)/ { keys = 1 }
	/^\.El/ || /^\.Sh/ { if (key) print key "\t" text; key = "" }
	/^\.It Cm / { if (key) print key "\t" text; key = $3; sub(/^\\&/, "", key); text = ""; next }
	key { text = text " " $0 }' "$page" | grep '^[a-z]*\.[a-z_]*	' >items
sed -n 's/^KEY([A-Z_]*, "\([a-z._]*\)".*/\1/p' "$top_srcdir/cli/config/schema.def" | sort >keys
cut -f1 items | sort >described
tap_same described keys "qcnn-config(5) describes every key once"
for word in 'Unit: [a-z]' 'Type: [a-z]' 'Default: [^ ]|Must be given' 'Example: .Ql "'; do
	tap_is "$(grep -Ev "$word" items | cut -f1 | paste -sd ' ')" "" "each with $word"
done
tap_is "$(grep '_seconds	' items | grep -v 'Unit: seconds' | cut -f1)" "" "seconds are the unit of keys that are called so"
tap_is "$(grep -E 'e-308|e\+308|1\.79769' "$page")" "" "no bound of the machine's numbers is shown"

# KEY, a tab, VALUE.
sed -n 's/^\([a-z]*\)\.[a-z_]*	.*Example: .Ql "\\&\(.*\)".*/\1.\2/p' items | sed -e 's/\\(dq/"/g' -e 's/: /	/' >examples
tap_is "$(wc -l <examples | tr -d ' ')" "$(wc -l <keys | tr -d ' ')" "examples are found"
# What excludes data of a generator is shown without it, and the other way round.
bad=
while IFS='	' read -r key value; do
	"$QCNN" config --set "$key=$value" config.yaml >out 2>err || bad="$bad $key"
	"$QCNN" config --json config.yaml --set "$key=$value" >out 2>err
	"$QCNN" config --json config.yaml >plain 2>err
	cmp -s out plain && bad="$bad $key(is-the-default)"
done <examples
tap_is "$bad" "" "every example is taken, and is not the default"

# refused KEY VALUE: status 78, the place, and a label that says more than that it is wrong.
refused() {
	"$QCNN" config --set "$1=$2" config.yaml >out 2>err
	[ $? = 78 ] || { echo "$1=$2: taken"; return; }
	grep -q -- '--> --set:1:' err || echo "$1=$2: no place"
	grep -Eq 'takes |one of: |options: |at least|at most|above|below| to |any|Q0510|allowed|no name of a host|stands alone|parts are|host' err || echo "$1=$2: not what is allowed"
}
while read -r key; do
	for value in '[[]]' '{zz: [{}]}' '[{a: 1, b: 2}]'; do
		refused "$key" "$value"
	done
done <keys >refused
tap_is "$(cat refused)" "" "no key takes lists or maps of nothing it knows"

# Numbers at their bounds and one beyond, and what is no number.
sed -n 's/^\([a-z._]*\)	.*Type: whole number[a-z ]*, \([0-9]*\) to \([0-9]*\)\..*/\1 \2 \3/p' items >bounds
tap_ok "bounds are found" test "$(wc -l <bounds)" -ge 12
while read -r key low high; do
	for value in $low $high; do
		"$QCNN" config --set "$key=$value" config.yaml >out 2>err || echo "$key=$value: refused"
	done
	for value in $((low - 1)) $((high + 1)) 1.5 .nan .inf x; do
		[ "$key=$value" = run.threads=auto ] || refused "$key" "$value"
	done
done <bounds >refused
tap_is "$(cat refused)" "" "whole numbers: both bounds are taken, nothing beyond"
while read -r key; do
	for value in maybe 3 '[true]'; do refused "$key" "$value"; done
done <<END >refused
$(sed -n 's/^\([a-z._]*\)	.*Type: true or false\..*/\1/p' items)
END
tap_is "$(cat refused)" "" "true or false: nothing else"
while read -r key; do
	refused "$key" nonesuch
done <<END >refused
$(sed -n 's/^\([a-z._]*\)	.*one of: .*/\1/p' items | grep -v 'data.transform\|train.callbacks\|train.metrics\|train.regularizers\|train.constraints')
END
tap_is "$(cat refused)" "" "words: none that is not listed"

# told_with KEY TEXT: a value of another kind is answered with the numbers or words that are allowed.
told_with() {
	"$QCNN" config --set "$1=[[]]" config.yaml >out 2>err
	grep -qF -- "$2" err || echo "$1: not $2"
}
while read -r key low high; do
	told_with "$key" "allowed: $low to $high"
done <bounds >refused
sed -n 's/^\([a-z._]*\)	.*[;,] \(one of: [^.]*\)\..*/\1	\2/p' items >words
tap_ok "words are found" test "$(wc -l <words)" -ge 15
while IFS='	' read -r key words; do
	told_with "$key" "$words"
done <words >>refused
tap_is "$(cat refused)" "" "a value of another kind: what is allowed is told"

# What Keras, PyTorch and PennyLane call it: each row is found by a key that takes our word, or as an option that is a key here.
while IFS='	' read -r theirs ours; do
	set --
	for key in train.loss train.optimizer train.schedule train.metrics train.callbacks train.constraints data.transform run.device run.gradient run.precision; do
		set -- "$@" --set "$key=$theirs"
	done
	"$QCNN" config "$@" config.yaml >out 2>err
	"$QCNN" train "--$theirs=1" config.yaml 2>>err
	grep -q "here it is called \`\(--set [a-z._]*\.\)*$ours\(=1\)*\`" err || echo "$theirs"
done <<END >refused
$(sed -n 's/^ALIAS("\(.*\)", "\(.*\)")/\1	\2/p' "$top_srcdir/cli/config/aliases.def")
END
tap_is "$(cat refused)" "" "names of other programs lead to ours"
tap_exit 78 "as they are written there" "$QCNN" config --set train.loss=mean_squared_error --set train.callbacks=CSVLogger config.yaml
tap_has err 'here it is called `mse`' "a loss"
tap_has err 'here it is called `csv`' "a callback"

# Options of the tables: each is shown with its range, and refused beyond it.
tap_exit 78 "an option beyond its range" "$QCNN" config --set train.callbacks.reduce_lr_on_plateau.factor=1 config.yaml
tap_has err "above 0 and below 1" "says the range"
tap_exit 78 "0 where more is wanted" "$QCNN" config --set train.optimizer.adam.epsilon=0 config.yaml
tap_has err "^ above 0" "says so"
tap_exit 78 "infinity" "$QCNN" config --set train.optimizer.adam.epsilon=.inf config.yaml
tap_has err "^ finite, above 0" "is none either"
tap_exit 78 "a launcher that is none" "$QCNN" config --set cluster.launcher=rsh config.yaml
tap_has err "one of: local, ssh, srun, exec:WORDS" "says which there are"
tap_exit 0 "a program as launcher" "$QCNN" config --set 'cluster.launcher=exec:my-agent -q' config.yaml
tap_exit 78 "a launcher without a program" "$QCNN" config --set cluster.launcher=exec: config.yaml
tap_done
