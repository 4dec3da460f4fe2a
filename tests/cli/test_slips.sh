# SPDX-License-Identifier: Apache-2.0
# What people get wrong on their first day, and the words that must help them on.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files

tap_exit 78 "a model for a configuration" "$QCNN" train bell.qcnn
tap_has err 'bell.qcnn is a model; a configuration, a YAML file, names it: `model: {file: bell.qcnn}`' "says what is missing"

printf 'qubit q; input float[2] x; param float t; rx(x[0]*t) q; ry(x[1]) q;\n' >blind.qcnn
tap_exit 65 "nothing observed" "$QCNN" train --set model.file=blind.qcnn table.yaml
tap_has err 'blind.qcnn has no outputs to compare with labels' "says so"
printf 'qubit q; input float[2] x; rx(x[0]) q; ry(x[1]) q; observe z(q);\n' >fixed.qcnn
tap_exit 65 "nothing to train" "$QCNN" train --set model.file=fixed.qcnn table.yaml
tap_has err 'fixed.qcnn has no weights to train' "says so"
tap_exit 0 "one gate is one apply" "$QCNN" check fixed.qcnn
tap_ok "in the singular, too" sh -c 'printf "qubit q; x q; observe z(q);" >one.qcnn && "$0" check one.qcnn | grep -q "1 qubit, 1 apply, 1 readout"' "$QCNN"

printf 'qubit[30] q; h q; observe z(q);\n' >large.qcnn
tap_exit 0 "a model larger than many machines" "$QCNN" check large.qcnn
tap_has out 'state     8.0 GiB in single precision, 16.0 GiB in double; a gradient takes two' "says what it takes"

# A fault in every row is not told for every row.
{ echo a,b,label; for i in 1 2 3 4 5 6 7 8 9; do echo "0.$i,0.2,cat"; done; } >words.csv
tap_exit 65 "labels that are words" "$QCNN" train --set data.train=words.csv table.yaml
tap_is "$(grep -c 'error\[Q0601\]' err)" 5 "five are enough"
tap_has err 'after 5 faults the rest of the file is not read' "and it says that"

sed 's/label$/kind/' samples.csv >kinds.csv
tap_exit 65 "the label's column has another name" "$QCNN" train --set data.train=kinds.csv --set data.label=null table.yaml
tap_has err '`data.label` says which column holds the labels' "names the key"
tap_exit 65 "so it has for run" "$QCNN" run --data=kinds.csv two.qcnn
tap_has err '`label` is the name by which it would be known' "names the column"

sed 's/{file: cluster.qcnn}/{file: cluster.qcnn, const: {m: 3}}/' config.yaml >const.yaml
tap_exit 65 "a constant that is not there" "$QCNN" check const.yaml
tap_has err ' --> const.yaml:1:37' "is shown in the configuration"

tap_exit 0 "a run of three starts" "$QCNN" train -q --set train.restarts=3 config.yaml
tap_is "$(sed 's/.*"start": \([0-9]*\).*/\1/' runs/latest/metrics.jsonl | sort -u | tr '\n' ' ')" "1 2 3 " "starts are counted from 1, as epochs"
tap_exit 0 "the same run, told" "$QCNN" train --set train.restarts=3 config.yaml
best=$(sed -n 's/.*best of 3 starts: start \([0-9]*\).*/\1/p' err)
tap_ok "the best start has one number everywhere" grep -Eq "\"start\": ?$best," runs/latest/run.json

tap_exit 2 "a key for an option" "$QCNN" train --batch-size=3 config.yaml
tap_has err 'unknown option `--batch-size`: it is a key, `--set train.batch_size=...`' "names --set"

printf '0.1,0.2,0.3,0.4\n' >angles.csv
tap_exit 0 "samples without labels" "$QCNN" infer --data angles.csv runs/latest/weights.bin
tap_has err 'no labels in angles.csv: no loss or metrics' "why there is no loss"
tap_done
