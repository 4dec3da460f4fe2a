#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Generators with options, and qcnn infer --set: trained weights on other data.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cat >chain.qcnn <<'END'
QCNN 1;
qubit[5] q;
input state psi;
embed { amplitudes(psi) q; }
layer turn { param float[5] t;  ry(each t) on q; }
observe z(q[0])*z(q[1]);
END
cat >config.yaml <<'END'
model: {file: chain.qcnn}
data:
  generate: {cluster-ising: {even: true, high: 1.5}}
  rounds: 7
  split: {train: 4, test: 3}
train: {epochs: 2}
END

# ---- options ----
"$QCNN" config config.yaml >printed
tap_has printed '      high: 1.5 ' "qcnn config prints options"
tap_has printed '      boundary: 1 ' "and their defaults"
"$QCNN" config printed | sed 's/ *#.*//' >again
sed 's/ *#.*//' printed >first
tap_same again first "what is printed reads back"
tap_exit 78 "an unknown option" "$QCNN" config --set data.generate.cluster-ising.hihg=2 config.yaml
tap_has err 'did you mean `high`?' "it suggests"
tap_exit 78 "an option of another kind" "$QCNN" config --set data.generate.cluster-ising.even=3 config.yaml
tap_exit 78 "a generator without options" "$QCNN" config --set 'data.generate={stripes: {even: true}}' config.yaml
tap_has err 'it has none' "it says so"
tap_exit 78 "two generators" "$QCNN" config --set 'data.generate={stripes: {}, ising-chain: {}}' config.yaml
tap_exit 78 "low above high" "$QCNN" train -q --set data.generate.cluster-ising.low=3 config.yaml
tap_has err 'cluster-ising: low, 3, is above high, 1.5' "it says so"

# ---- labels follow the fields: 0, 0.25 ... 1.5, and 1 is the boundary ----
tap_exit 0 "trains" "$QCNN" train -q config.yaml -o w.bin
tap_exit 0 "infers all seven" "$QCNN" infer --set data.rounds=7 --json w.bin
tap_has out '"labels": [[1], [1], [1], [1], [-1], [-1], [-1]]' "labels in the order of the fields"
tap_exit 0 "infers its test part" "$QCNN" infer --json w.bin
sed 's/.*"outputs": //; s/\]\].*//; s/\[//g; s/\],* */\n/g' out >described
tap_exit 0 "the same samples by --set" "$QCNN" infer --set 'data.split={train: 4, test: 3}' --split test --json w.bin
sed 's/.*"outputs": //; s/\]\].*//; s/\[//g; s/\],* */\n/g' out >set
tap_same set described "have the same outputs"
tap_ok "three" test "$(wc -l <set)" -eq 3
tap_exit 0 "another boundary" "$QCNN" infer --set data.generate.cluster-ising.boundary=0.3 --json w.bin
tap_has out '"labels": [[1], [1], [-1], [-1], [-1], [-1], [-1]]' "its labels"
tap_exit 0 "other products" "$QCNN" infer --set data.generate.cluster-ising.xx=-0.5 w.bin
cp out xx
tap_exit 0 "none" "$QCNN" infer --set data.generate.cluster-ising.xx=0 w.bin
tap_ok "change the outputs" sh -c '! cmp -s out xx'

# ---- what --set may not ----
tap_exit 78 "a generator of numbers for a model of states" "$QCNN" infer --set data.generate=stripes w.bin
tap_exit 2 "a key of the training" "$QCNN" infer --set train.loss=mae w.bin
tap_has err 'not `train.loss=mae`' "is named"
tap_exit 2 "what the weights learnt" "$QCNN" infer --set 'data.transform=[l2]' w.bin
tap_exit 2 "a part that is not there" "$QCNN" infer --set data.rounds=3 --split test w.bin
tap_has err 'there are no test data' "says so"
tap_exit 2 "with --data" "$QCNN" infer --set data.rounds=3 --data x.csv w.bin
tap_exit 78 "an unknown key" "$QCNN" infer --set data.rond=3 w.bin
tap_exit 66 "a file that is not there" "$QCNN" infer --set data.generate=null --set data.train=none.csv w.bin
tap_has err 'none.csv is not there' "is named"

tap_done
