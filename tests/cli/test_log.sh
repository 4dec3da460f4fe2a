# SPDX-License-Identifier: Apache-2.0
# What a run writes while it goes: history.csv and TensorBoard's event files, by the keys of the section log.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_models
make_configs
: "${PYTHON:=python3}"

count() { LC_ALL=C grep -a -o "$2" "$1"/events.out.tfevents.* | wc -l | tr -d ' '; }

tap_exit 0 "train" "$QCNN" train -q --set log.histograms=1 config.yaml
run=$(tap_run runs)
tap_is "$(ls -d $run/train $run/validation | wc -l | tr -d ' ')" 2 "folders for training and validation"
tap_is "$(ls $run/events* $run/train/events* $run/validation/events* | wc -l | tr -d ' ')" 3 "a file in each, and one of the run"
# 10 rounds of 4 qubits, three quarters of them in batches of 8, twice: 8 updates.
tap_is "$(count $run/train batch_loss)" 8 "batch_loss after each update"
for tag in epoch_loss epoch_sign_accuracy; do
	tap_is "$(count $run/train $tag) $(count $run/validation $tag)" "2 2" "$tag of both, each epoch"
done
tap_is "$(count $run/train epoch_learning_rate) $(count $run/validation epoch_learning_rate)" "2 0" "epoch_learning_rate of training"
tap_is "$(count $run/validation evaluation_loss_vs_iterations)" 2 "evaluation_loss_vs_iterations of validation"
tap_is "$(count $run/train 'conv\[0\].t/histogram') $(count $run/train 'last\[0\].s/gradient') $(count $run/train readouts/histogram)" \
	"2 2 2" "histograms of weights, gradients and readouts"
tap_is "$(count $run '_hparams_/session_start_info') $(count $run '_hparams_/session_end_info')" "1 1" "hyperparameters"
tap_is "$(count $run/train conv_0/entangle_)$(count $run/train 'qubit\[n\] q;')" \
	"$(count $run/train conv_0/entangle_)1" "the model's text"
[ "$(count $run/train conv_0/entangle_)" -ge 4 ]
tap_result $? "the graph has layers as scopes"

# history.csv has what metrics.jsonl has.
tap_is "$(head -1 $run/history.csv)" \
	"start,epoch,step,loss,sign_accuracy,val_loss,val_sign_accuracy,learning_rate,seconds,samples_per_second" "the columns of history.csv"
tap_is "$(sed 1d $run/history.csv | cut -d, -f1-7)" \
	"$(sed 's/"[a-z_]*": //g; s/[{} ]//g' $run/metrics.jsonl | cut -d, -f1-7)" "and its numbers"

tap_exit 0 "every third update" "$QCNN" train -q --set log.update_freq=3 config.yaml
tap_is "$(count "$(tap_run runs)"/train batch_loss) $(count "$(tap_run runs)"/train /histogram)" "2 0" "update_freq: 3, histograms: 0"
tap_exit 0 "never" "$QCNN" train -q --set log.update_freq=0 config.yaml
tap_is "$(count "$(tap_run runs)"/train batch_loss)" 0 "update_freq: 0"
for words in "batch 8" "epoch 0"; do
	tap_exit 0 "by ${words% *}" "$QCNN" train -q --set log.update_freq="${words% *}" config.yaml
	tap_is "$(count "$(tap_run runs)"/train batch_loss) $(count "$(tap_run runs)"/train epoch_loss)" "${words#* } 2" "update_freq: ${words% *}"
done
tap_exit 78 "by nothing known" "$QCNN" train -q --set log.update_freq=epochs config.yaml
tap_has err "did you mean \`epoch\`" "says what it may be"
tap_exit 0 "every second epoch" "$QCNN" train -q --set log.histograms=2 --set train.epochs=3 config.yaml
tap_is "$(count "$(tap_run runs)"/train readouts/histogram)" 2 "histograms: 2"
tap_exit 0 "no event files" "$QCNN" train -q --set log.tensorboard=false config.yaml
tap_is "$(ls "$(tap_run runs)" | grep -c -e events -e '^train' -e '^validation')" 0 "tensorboard: false"
tap_exit 0 "three starts" "$QCNN" train -q --set train.restarts=3 config.yaml
tap_is "$(cd "$(tap_run runs)" && ls -d start-*/train start-*/validation | tr '\n' ' ')" \
	"start-1/train start-1/validation start-2/train start-2/validation start-3/train start-3/validation " "folders for each start"
tap_is "$(count "$(tap_run runs)"/start-3/train batch_loss)" 8 "the last start's updates"
tap_is "$(sed 1d runs/latest/history.csv | cut -d, -f1,2 | tr '\n' ' ')" "1,1 1,2 2,1 2,2 3,1 3,2 " "history.csv has all"

# Logging changes no weights.
"$QCNN" train -q --set log.histograms=1 -o a.bin config.yaml
"$QCNN" train -q --set log.tensorboard=false -o b.bin config.yaml
tap_same a.bin b.bin "the same weights with and without"

# What cannot be written is told once, and training goes on.
cat >full.sh <<'END'
trap '' XFSZ
ulimit -f 64
"$QCNN" train --no-progress --set log.histograms=1 --set train.epochs=60 config.yaml
END
tap_exit 0 "with a full disk" sh full.sh
tap_is "$(grep -c 'the training continues, and tries again' err)" 1 "one note"
tap_ok "the weights are there" test -s runs/latest/weights.bin

# With TensorBoard's own loader: every value of metrics.jsonl, as floats.
if "$PYTHON" -c 'import tensorboard' 2>/dev/null; then
	cat >compare.py <<'END'
import json, struct, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util
def load(part):
    a = EventAccumulator(sys.argv[1] + "/" + part, size_guidance={"tensors": 0}); a.Reload()
    return a, lambda tag: [(e.step, float(tensor_util.make_ndarray(e.tensor_proto))) for e in a.Tensors(tag)]
f32 = lambda v: struct.unpack("f", struct.pack("f", v))[0]
rows = [json.loads(l) for l in open(sys.argv[1] + "/metrics.jsonl")]
a, train = load("train")
_, val = load("validation")
assert train("epoch_loss") == [(i, f32(r["loss"])) for i, r in enumerate(rows)]
assert train("epoch_sign_accuracy") == [(i, f32(r["sign_accuracy"])) for i, r in enumerate(rows)]
assert train("epoch_learning_rate") == [(i, f32(r["learning_rate"])) for i, r in enumerate(rows)]
assert val("epoch_loss") == [(i, f32(r["val_loss"])) for i, r in enumerate(rows)]
assert val("evaluation_loss_vs_iterations") == [(r["step"], f32(r["val_loss"])) for r in rows]
assert [s for s, _ in train("batch_loss")] == list(range(1, rows[-1]["step"] + 1))
h = tensor_util.make_ndarray(a.Tensors("conv[0].t/histogram")[0].tensor_proto)
assert h.shape == (30, 3) and h[:, 2].sum() == 3, h
assert a.Graph() and {"config", "model", "circuit"} <= set(a.Tags()["tensors"])
END
	"$QCNN" train -q --set log.histograms=1 config.yaml
	tap_ok "TensorBoard reads the same tags, steps and values" "$PYTHON" compare.py "$(tap_run runs)"
else
	tap_skip "no Python package tensorboard"
fi
tap_done
