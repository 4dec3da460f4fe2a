#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Weights in Keras's .h5 files: those of TensorFlow Quantum give its stored outputs, ours come back to the
# same bits, Python's h5py finds Keras's layout, and wrong files are refused.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"

: "${PYTHON:=python3}"
make_files
"$QCNN" train -q -o w.bin table.yaml
if "$QCNN" weights convert w.bin w.h5 2>err; then
	tap_result 0 "weights are written"
else
	grep -q 'built without HDF5' err && tap_skip_all "built without HDF5"
	tap_result 1 "weights are written" || cat err
fi

tap_exit 0 "and come back with the same bits" "$QCNN" weights diff w.bin w.h5
tap_exit 0 "into a weights.bin" "$QCNN" weights convert --model table.yaml w.h5 back.bin
tap_exit 1 "which lacks what only training knows" "$QCNN" weights diff w.bin back.bin
tap_is "$(grep -c equal out) $(grep '^# split' out)" "9 # split: only in the first" "but has the same weights, program and source"
"$QCNN" run -q --data new.csv --weights w.bin two.qcnn >want
tap_exit 0 "run takes the file" "$QCNN" run -q --data new.csv --weights w.h5 two.qcnn
tap_same out want "to the same outputs"
"$QCNN" train -q --set 'train.init={from: w.bin}' --set log.dir=one -o one.bin table.yaml
tap_exit 0 "training starts from it" "$QCNN" train -q --set 'train.init={from: w.h5}' --set log.dir=two -o two.bin table.yaml
"$QCNN" weights diff one.bin two.bin >diff
tap_is "$(grep -c -v equal diff) $(grep -v equal diff)" "1 # config: different" "to the same weights"

reference=${QCNN_SHARED:-none}/reference/tfq
if [ -f "$reference/keras_model_b.h5" ]; then
	{ head -1 "$reference/cluster_data.csv"; tail -48 "$reference/cluster_data.csv"; } >last.csv
	for pair in a:cluster/cluster b:cluster-hybrid/hybrid; do
		name=keras_model_${pair%%:*}
		model=$top_srcdir/examples/${pair#*:}.qcnn
		tap_exit 0 "$name is read" "$QCNN" run --weights "$reference/$name.h5" --data last.csv --precision double --format csv "$model"
		sed 's/^[0-9]*,//; 1d' out >got
		tr -d '\n ' <"$reference/$name.json" | sed 's/.*"prediction_double":\[\([^]]*\)\].*/\1/' | tr ',' '\n' >expected
		tap_is "$(paste got expected | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d < 1e-12) n++ } END { print n }')" 48 \
			"$name: the stored outputs, within 1e-12"
		cp "$reference/$name.h5" "$name.h5"
	done
	tap_exit 65 "another model's weights" "$QCNN" run --weights keras_model_b.h5 --data last.csv "$top_srcdir/examples/cluster/cluster.qcnn"
	tap_has err "parameters:0: 21 numbers, but the model's circuit has 63 weights" "are refused by their number"
	tap_exit 65 "weights without the head" "$QCNN" run --weights w.h5 --data last.csv "$top_srcdir/examples/cluster-hybrid/hybrid.qcnn"
else
	tap_skip "no reference values of TensorFlow Quantum"
fi

# Wrong files.
head -c 3000 w.h5 >cut.h5
tap_exit 65 "a file that is cut off" "$QCNN" run --weights cut.h5 --data new.csv two.qcnn
tap_has err "cut.h5: not an HDF5 file, or damaged" "is named"
cp w.bin bin.h5
tap_exit 65 "a weights.bin under a wrong name" "$QCNN" run --weights bin.h5 --data new.csv two.qcnn
tap_exit 66 "a missing file" "$QCNN" run --weights none.h5 --data new.csv two.qcnn
tap_exit 65 "another shape" "$QCNN" weights diff --model cluster.qcnn w.h5 w.h5
tap_has err "w.h5: pqc: parameters:0: 2 numbers, but the model's circuit has 5 weights" "is said"
tap_exit 2 "a file without its model" "$QCNN" weights convert w.h5 other.npz
tap_has err "name it with --model" "asks for it"
echo kept >kept.h5
tap_exit 65 "a failing conversion" "$QCNN" weights convert --model cluster.qcnn cut.h5 kept.h5
tap_is "$(cat kept.h5)" kept "loses nothing"

# Weights that no gate has are not in the file, as in those of TensorFlow Quantum; every command says what numbers mean.
cat >gaps.qcnn <<-'END'
QCNN 1;
qubit[2] q;
input float[2] x;
param float[12] t;
param float[2] none;
rx(each x) on q;
ry(t[0]) q[0];
ry(t[10]) q[0];
ry(t[2]) q[1];
cx q[1], q[0];
observe z(q[0]);
END
printf 'QCNN 1;\nqubit[1] q;\nparam float[2] t;\nx q;\nobserve z(q);\n' >idle.qcnn
echo '[0,1,2,3,4,5,6,7,8,9,10,11,12,13]' >all.json
echo '[0,1]' >idle.json
tap_exit 0 "weights that no gate has are left out" "$QCNN" weights convert --model gaps.qcnn all.json gaps.h5
tap_exit 0 "and become 0" "$QCNN" weights convert --model gaps.qcnn gaps.h5 gaps.json
tap_is "$(tr -d ' \n' <gaps.json)" '{"t":[0,0,2,0,0,0,0,0,0,0,10,0],"none":[0,0]}' "the others stay"
taken="gaps.h5: pqc: the numbers are taken for t[0], t[10], t[2]: symbols sorted"
tap_has err "$taken" "in this order"
tap_exit 0 "run says the order" "$QCNN" run --data new.csv --weights gaps.h5 gaps.qcnn
tap_has err "$taken" "as well"
tap_exit 0 "compile says it" "$QCNN" compile --emit circuit --weights gaps.h5 gaps.qcnn
tap_has err "$taken" "as well"
tap_exit 0 "train says it" "$QCNN" train --set 'train.init={from: gaps.h5}' --set model.file=gaps.qcnn --set log.dir=gaps table.yaml
tap_has err "$taken" "as well"
tap_exit 0 "no gate has a weight" "$QCNN" weights convert --model idle.qcnn idle.json idle.h5
tap_exit 0 "and back" "$QCNN" weights convert --model idle.qcnn idle.h5 idle2.json

# Layouts that h5py writes.
if "$PYTHON" -c 'import h5py, numpy' 2>/dev/null; then
	cat >layout.py <<-'END'
	import h5py, numpy
	with h5py.File("w.h5") as f:
	    assert [n for n in f.attrs["layer_names"]] == ["pqc", "dense"], list(f.attrs["layer_names"])
	    assert f.attrs["backend"] == "tensorflow" and f.attrs["keras_version"]
	    assert list(f["pqc"].attrs["weight_names"]) == ["parameters:0"]
	    assert list(f["dense"].attrs["weight_names"]) == ["dense/kernel:0", "dense/bias:0"]
	    pqc, kernel, bias = f["pqc/parameters:0"][()], f["dense/dense/kernel:0"][()], f["dense/dense/bias:0"][()]
	    assert pqc.shape == (2,) and kernel.shape == (2, 1) and bias.shape == (1,) and kernel.dtype == "float64"
	def model(name, where="", pqc=pqc, kernel=kernel, bias=bias, layers=("in", "q", "d"), text=lambda x: x, **how):
	    with h5py.File(name, "w") as f:
	        g = f.create_group(where) if where else f
	        g.attrs["layer_names"] = text(layers)
	        g.create_group("in").attrs["weight_names"] = []
	        q, d = g.create_group("q"), g.create_group("d")
	        q.attrs["weight_names"] = text(["parameters:0"])
	        q.create_dataset("parameters:0", data=pqc, **how)
	        d.attrs["weight_names"] = text(["d/kernel:0", "d/bias:0"])
	        d.create_dataset("d/kernel:0", data=kernel, **how)
	        d.create_dataset("d/bias:0", data=bias)
	model("saved.h5", "model_weights")
	model("bytes.h5", text=lambda x: numpy.array(x, "S"))
	model("chunked.h5", compression="gzip", chunks=True)
	model("deep.h5", kernel=numpy.zeros((3, 3, 1, 2)))
	model("complex.h5", pqc=pqc * 1j)
	model("words.h5", pqc=["a", "b"])
	model("nan.h5", pqc=[numpy.nan, 0])
	model("absent.h5", layers=["q", "none"])
	model("twice.h5", layers=["q", "q", "d"])
	with h5py.File("huge.h5", "w") as f:
	    f.attrs["layer_names"] = ["q"]
	    f.create_group("q").attrs["weight_names"] = ["parameters:0"]
	    f["q"].create_dataset("parameters:0", (1 << 40,), "f8", chunks=(1 << 20,))
	with h5py.File("link.h5", "w") as f:
	    f.attrs["layer_names"] = ["q"]
	    f["q"] = h5py.ExternalLink("w.h5", "/pqc")
	with h5py.File("raw.h5", "w") as f:
	    f.attrs["layer_names"] = ["q"]
	    f.create_group("q").attrs["weight_names"] = ["parameters:0"]
	    f["q"].create_dataset("parameters:0", (2,), "f8", external=[("w.bin", 0, 16)])
	with h5py.File("keras3.h5", "w") as f:
	    f.create_dataset("layers/dense/vars/0", data=kernel)
	END
	tap_ok "h5py finds Keras's layout" "$PYTHON" layout.py
	for name in saved bytes chunked; do
		tap_exit 0 "$name.h5 is read" "$QCNN" weights diff w.bin $name.h5
	done
	# A circuit that lacks some of its symbols: t0, t1, t10, t11, t2 sorted, and no number for the others.
	cat >gap.qcnn <<-'END'
	QCNN 1;
	qubit[2] q;
	input float x;
	param float[12] t;
	ry(x + t[0]) q[0];
	ry(t[10]) q[0];
	ry(t[2]) q[0];
	ry(t[11]) q[1];
	cx q[1], q[0];
	ry(t[1]) q[0];
	observe z(q[0]);
	END
	cat >gap.py <<-'END'
	import h5py
	for name, numbers in ("five.h5", [0.5, 1.5, 10.5, 11.5, 2.5]), ("six.h5", [1.0, 2, 3, 4, 5, 6]):
	    with h5py.File(name, "w") as f:
	        f.attrs["layer_names"] = ["pqc"]
	        f.create_group("pqc").attrs["weight_names"] = ["parameters:0"]
	        f["pqc"].create_dataset("parameters:0", data=numbers)
	END
	"$PYTHON" gap.py
	tap_exit 0 "symbols with gaps" "$QCNN" weights convert --model gap.qcnn five.h5 five.json
	tap_is "$(tr -d ' \n' <five.json | sed 's/.*"t":\[\([^]]*\)\].*/\1/')" "0.5,1.5,2.5,0,0,0,0,0,0,0,10.5,11.5" "go to their weights"
	tap_has err "five.h5: pqc: the numbers are taken for t[0], t[1], t[10], t[11], t[2]: symbols sorted" "which are named"
	tap_exit 65 "another number of them" "$QCNN" weights convert --model gap.qcnn six.h5 six.json
	tap_has err "6 numbers, but the model's circuit has 12 weights" "is refused"
	for name in deep complex words nan absent twice huge link raw keras3; do
		tap_exit 65 "$name.h5 is refused" "$QCNN" weights diff w.bin $name.h5
		tap_note "$(cat err)"
	done
else
	tap_skip "no Python package h5py"
fi
tap_done
