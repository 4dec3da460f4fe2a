#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# qcnn weights: differences by path, and conversions that need a model.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"

make_files
"$QCNN" train -q -o w.bin table.yaml
"$QCNN" train -q --set run.seed=5 -o other.bin table.yaml

# Nothing differs.
tap_exit 0 "a file and itself" "$QCNN" weights diff w.bin w.bin
tap_is "$(grep -c -v 'equal$' out)" 0 "all is equal"
"$QCNN" weights convert w.bin w.npz
"$QCNN" weights convert w.bin w.json
for kind in npz json; do
	tap_exit 0 "a file and its .$kind" "$QCNN" weights diff w.bin w.$kind
	tap_exit 0 "the other way round" "$QCNN" weights diff w.$kind w.bin
	tap_exit 0 "two without a model" "$QCNN" weights diff --model two.qcnn w.$kind w.json
done

tap_exit 0 "a zero with its sign" sh -c 'echo "{\"w\": [-0.0, 2], \"head.dense[0].kernel\": [[1], [2]], \"head.dense[0].bias\": [0]}" >z.json &&
	"$0" weights convert --model two.qcnn z.json z.bin && "$0" weights convert z.bin zz.json && grep "\[-0.0, 2" zz.json' "$QCNN"
tap_exit 2 "show a .npz" "$QCNN" weights show w.npz
tap_has err 'w.npz has weights without a model' "says what it lacks"

# Something differs.
tap_exit 1 "weights of another seed" "$QCNN" weights diff w.bin other.bin
tap_is "$(grep -c 'largest difference' out)" 3 "all three arrays"
tap_is "$(sed -n 's/: different$//p' out | tr '\n' ' ')" "# config # metrics # seed # split " "and their metadata"
cat >small.json <<'END'
{"w": [1, 2], "head.dense[0].kernel": [[1], [2]], "head.dense[0].bias": [0]}
END
sed 's/\[1, 2\]/[1, 2.5]/' small.json >changed.json
tap_exit 1 "one number changed" "$QCNN" weights diff --model two.qcnn small.json changed.json
cat >want <<'END'
w: largest difference 0.5 at w[1], rms 0.354
head.dense[0].kernel: equal
head.dense[0].bias: equal
END
tap_same out want "is found, with its size"
tap_exit 1 "as JSON" "$QCNN" weights diff --json --model two.qcnn small.json changed.json
tap_has out '"w": {"equal": false, "shapes": [[2], [2]], "largest": 0.5, "at": "w[1]", "rms": 0.3535533905932738}' "the difference"
tap_has out '"metadata": {}, "weights_equal": false, "metadata_equal": true}' "and the summary"

# Other paths and shapes.
"$QCNN" train -q -o cluster.bin config.yaml
tap_exit 1 "another model" "$QCNN" weights diff w.bin cluster.bin
tap_has out "w: only in w.bin" "paths of the first"
tap_has out "conv[0].t: only in cluster.bin" "paths of the second"
tap_has out "# program: different" "another program"
sed 's/param float\[2\] w = {0.1, 0.2}/param float[3] w/' two.qcnn >three.qcnn
"$QCNN" train -q --set model.file=three.qcnn -o three.bin table.yaml
tap_exit 1 "another shape" "$QCNN" weights diff w.bin three.bin
tap_has out "w: shapes [2] and [3]" "is shown"

# Into a weights.bin.
tap_exit 0 "a model's weights become a weights.bin" "$QCNN" weights convert --model two.qcnn w.npz made.bin
tap_exit 2 "infer wants data for it" "$QCNN" infer made.bin
tap_has err "describes no data; give --data, or convert the weights with --model=CONFIG" "says so"
"$QCNN" weights convert cluster.bin cluster.npz
tap_exit 0 "with the configuration" "$QCNN" weights convert --model config.yaml cluster.npz described.bin
tap_exit 2 "infer wants to know which of its samples" "$QCNN" infer described.bin
hint=$(sed -n 's/.*its configuration: //p' err)
tap_is "$hint" "--set data.split=0.75 --split=validation" "and says what they are"
tap_exit 0 "which is taken" "$QCNN" infer -q $hint described.bin
cp out got
"$QCNN" infer -q cluster.bin >want
tap_same got want "the samples of the training's validation, to the same numbers"
sed 's/, split: 0.75//' config.yaml >whole.yaml
tap_exit 0 "with a configuration without parts" "$QCNN" weights convert --model whole.yaml cluster.npz whole.bin
tap_exit 2 "infer" "$QCNN" infer whole.bin
tap_has err "all samples of its configuration: --set data.split=null" "proposes all of its samples"
cp w.bin edited.bin
printf '\001\002\003' | dd of=edited.bin bs=1 seek=$(($(wc -c <edited.bin) - 3)) conv=notrunc 2>/dev/null
tap_exit 65 "edited weights" "$QCNN" infer edited.bin
tap_has err "edited.bin: changed or damaged: its SHA-256 is not the one it names; to edit weights, use \`qcnn weights convert\`" "says how to edit them"
"$QCNN" run -q --data new.csv --weights w.bin --format csv two.qcnn | sed 's/^[0-9]*,//; 1d' >want
tap_exit 0 "and evaluates them" "$QCNN" infer -q --data new.csv -o got.csv made.bin
cut -d, -f2 got.csv | sed 1d >got
tap_is "$(paste want got | awk '{ d = $1 - $2; if (NF == 2 && d * d < 1e-12) n++ } END { print n + 0 }')" 2 "to the same outputs, but for rounding"
tap_exit 0 "with constants" "$QCNN" weights convert --model cluster.qcnn --const n=4 cluster.bin again.bin
tap_exit 78 "a constant that is none" "$QCNN" weights convert --model cluster.qcnn --const n=nine cluster.bin again.bin
"$QCNN" config table.yaml --set 'data.transform=[standardize]' >learns.yaml
tap_exit 78 "a configuration that learns from data" "$QCNN" weights convert --model learns.yaml w.npz learns.bin

tap_exit 2 "infer wants a model too" "$QCNN" infer w.npz
tap_has err "w.npz has weights without a model; \`qcnn infer --weights=w.npz RUN\` evaluates them" "and says what to do"

# Other weights on the samples of a run.
"$QCNN" train -q --fresh --set 'train.callbacks.checkpoint={}' --set log.dir=runs table.yaml
"$QCNN" infer latest >own
for file in runs/latest/weights.bin w.npz w.json w.bin $(tap_run runs)/saved/epoch-0001.bin latest; do
	case $file in w.*) "$QCNN" weights convert runs/latest/weights.bin $file 2>/dev/null ;; esac
	tap_exit 0 "infer --weights=$file" "$QCNN" infer --weights="$file" latest
	case $file in *epoch-0001*) continue ;; esac
	tap_same out own "with the same results"
done
"$QCNN" infer --split=validation -j --weights="$(tap_run runs)/saved/epoch-0001.bin" latest >first
loss=$(sed -n '1s/.*"val_loss": *\([-0-9.e]*\).*/\1/p' runs/latest/metrics.jsonl)
tap_ok "of the first epoch: the loss of its validation" awk -v a="$(tr -d ' \n' <first | sed 's/.*"loss":\([-0-9.e]*\).*/\1/')" -v b="$loss" \
	'BEGIN { exit !(a != "" && b != "" && (a - b) ^ 2 < 1e-20) }'
printf '[1, 2]\n' >few.json
tap_exit 65 "weights of another model" "$QCNN" infer --weights=few.json latest
tap_has err "few.json" "are named"
tap_exit 66 "weights that are missing" "$QCNN" infer --weights=none.npz latest
tap_exit 66 "a run that is missing" "$QCNN" infer --weights=none latest

got=0
"$QCNN" weights diff w.bin other.bin >&- 2>err || got=$?
tap_is $got 74 "files that differ, and nowhere to say it"

# Wrong use.
tap_exit 2 "an unknown action" "$QCNN" weights compare w.bin w.bin
tap_exit 2 "one file alone" "$QCNN" weights diff w.bin
tap_exit 2 "no model anywhere" "$QCNN" weights diff w.npz w.json
tap_exit 2 "show with a model" "$QCNN" weights show --model two.qcnn w.bin
tap_exit 2 "a target of another kind" "$QCNN" weights convert w.bin w.txt
tap_exit 2 "a weights.bin without a model" "$QCNN" weights convert w.npz new.bin
tap_exit 66 "a missing file" "$QCNN" weights diff w.bin none.bin
tap_exit 66 "a missing model" "$QCNN" weights diff --model none.qcnn w.npz w.json
tap_done
