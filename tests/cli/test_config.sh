# SPDX-License-Identifier: Apache-2.0
# Configurations: faults against golden texts, --set and --const, the resolved form.
# QCNN_REWRITE=1 rewrites the expectations beside the configurations.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files

for yaml in "$top_srcdir"/tests/cli/config/*.yaml; do
	name=$(basename "$yaml" .yaml)
	cp "$yaml" "$name.yaml"
	tap_exit 78 "$name is refused" "$QCNN" config "$name.yaml"
	[ -z "${QCNN_REWRITE:-}" ] || cp err "${yaml%.yaml}.err"
	tap_same err "${yaml%.yaml}.err" "$name: the message"
done

# Every code of configurations has a golden test.
missing=
for code in $(sed -n 's/^DIAG([A-Z_]*, \(5[0-9][0-9]\), .*/Q0\1/p' "$top_srcdir/runtime/base/diag.def"); do
	cat "$top_srcdir"/tests/cli/config/*.err | grep -q "error\[$code\]" || missing="$missing $code"
done
tap_is "$missing" "" "every code is tested"

tap_exit 0 "a good one" "$QCNN" config config.yaml
cp out resolved.yaml
tap_has resolved.yaml "  epochs: 2                                   # config.yaml:4" "a value and its line"
tap_has resolved.yaml "  restarts: 1                                 # default" "a default"
tap_exit 0 "the resolved form reads back" "$QCNN" config --json resolved.yaml
cp out resolved.json
"$QCNN" config --json config.yaml >original.json
tap_same resolved.json original.json "and means the same"
tap_exit 0 "a command as JSON" "$QCNN" config --json --set 'train.callbacks={command: {run: [echo, "01"], on: end}}' config.yaml
tap_has out '"callbacks": {"command": {"run": ["echo", "01"], "on": ["end"], "timeout": 60.0}}' "its words, and the defaults beside them"
missing=
for key in $(sed -n 's/^KEY([A-Z_]*, "[a-z]*\.\([a-z_]*\)".*/\1/p' "$top_srcdir/cli/config/schema.def"); do
	grep -q "^  $key:" resolved.yaml || missing="$missing $key"
done
tap_is "$missing" "" "it has every key"
page=$top_builddir/man/qcnn-config.5
[ -f "$page" ] || page=$top_srcdir/man/qcnn-config.5
missing=
for key in $(sed -n 's/^KEY([A-Z_]*, "\([a-z._]*\)".*/\1/p' "$top_srcdir/cli/config/schema.def"); do
	grep -q "^.It Cm .*$key\$" "$page" || missing="$missing $key"
done
tap_is "$missing" "" "so has qcnn-config(5)"

set_() { "$QCNN" config "$@" config.yaml 2>&1; }
has_line() { # TEXT NAME OPTIONS...
	text=$1 name=$2
	shift 2
	set_ "$@" >out
	tap_has out "$text" "$name"
}
has_line "  epochs: 5                                   # --set" "--set changes a key" --set train.epochs=5
has_line "  epochs: 6 " "the last one wins" -s train.epochs=5 -strain.epochs=6
has_line "      learning_rate: 0.5                      # --set" "an option of the optimiser" --set train.optimizer.adam.learning_rate=0.5
has_line "      momentum: 0.9                           # --set" "another optimiser" --set train.optimizer.sgd.momentum=0.9
has_line "    n: 16                                     # --const" "--const" --const n=16
has_line "  metrics: [accuracy, mse]                    # --set" "a list" --set 'train.metrics=[accuracy, mse]'
has_line "  max_steps: null                             # --set" "null leaves out" --set train.max_steps=
has_line 'unknown key `train.epoch`' "an unknown path" --set train.epoch=3
has_line 'did you mean `train.epochs`?' "has a suggestion" --set train.epoch=3
has_line 'expected PATH=VALUE' "no value" --set train.epochs
has_line '`train.epochs` takes a whole number' "a wrong value" --set train.epochs=two
has_line '1 | train.epochs=two' "is shown" --set train.epochs=two
has_line 'n: 1.8446744073709552e+19 ' "octal digits beyond 64 bits" --const n=0o2000000000000000000000
has_line 'n: 1.8446744073709552e+19 ' "hexadecimal digits beyond 64 bits" --const n=0x10000000000000000
has_line 'seed: 9223372036854775807 ' "the largest seed" --set run.seed=9223372036854775807
has_line '`run.seed` is out of range' "one more" --set run.seed=9223372036854775808
has_line 'restarts: 10000 ' "the most restarts" --set train.restarts=10000
has_line '`train.restarts` is out of range' "one more" --set train.restarts=10001
has_line 'learning_rate: 0.001 ' "1e-3 is a number" --set train.optimizer.adam.learning_rate=1e-3
has_line 'this is a text' "on is a text" --set train.shuffle=on

# Limits: at them, and one beyond.
many() { i=0; while [ $i -lt "$1" ]; do printf ' --set=train.epochs=%d' $i; i=$((i + 1)); done; }
tap_exit 0 "64 changes" "$QCNN" config $(many 64) config.yaml
tap_has out "  epochs: 63 " "the last one wins"
tap_exit 2 "65 changes" "$QCNN" config $(many 65) config.yaml
entries() { printf 'model: {file: a, const: {'; i=0; while [ $i -lt "$1" ]; do printf 'k%d: 1, ' $i; i=$((i + 1)); done; echo '}}'; }
entries 10000 >entries.yaml
tap_exit 0 "10000 entries" "$QCNN" config entries.yaml
entries 10001 >entries.yaml
tap_exit 78 "10001 entries" "$QCNN" config entries.yaml
tap_has err "error[Q0503]" "its code"
deep() { printf 'model: {file: a}\nx: '; i=0; while [ $i -lt "$1" ]; do printf '['; i=$((i + 1)); done
	while [ $i -gt 0 ]; do printf ']'; i=$((i - 1)); done; echo; }
deep 31 >deep.yaml
"$QCNN" config deep.yaml 2>err
tap_is "$(grep -c 'nested too deeply' err)" 0 "32 levels are read"
deep 32 >deep.yaml
tap_exit 78 "33 levels are not" "$QCNN" config deep.yaml
tap_has err 'error[Q0503]: nested too deeply' "and said so"
{ cat config.yaml; head -c $((1048576 - $(wc -c <config.yaml))) /dev/zero | tr '\0' '#'; } >large.yaml
tap_exit 0 "1 MiB is read" "$QCNN" config large.yaml
printf '#' >>large.yaml
tap_exit 78 "one byte more is not" "$QCNN" config large.yaml
tap_exit 66 "a missing file" "$QCNN" config nothing.yaml
printf 'model: {file: a}\n\000' >zero.yaml
tap_exit 78 "a zero byte" "$QCNN" config zero.yaml
tap_done
