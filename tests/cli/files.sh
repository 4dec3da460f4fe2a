# SPDX-License-Identifier: Apache-2.0
# Small models, configurations and data for the tests of the commands, written into the current folder.

make_models() {
	cat >cluster.qcnn <<-'END'
	QCNN 1;
	const int n = 4;
	qubit[n] q;
	input float[n] x;
	block entangle(float[3] t) a, b { ry(t[0]) a; ry(t[1]) b; pow(t[2]) @ zz a, b; cx a, b; }
	embed { h q; cz on cycle(q); rx(each x) on q; }
	layer conv { param float[3] t; entangle(t) on ring(q); }
	layer last { param float[2] s = {0.5, 0.25}; ry(s[0]) q[1]; rz(s[1]) q[n-1]; }
	observe z(q[n-1]);
	END
	cat >bell.qcnn <<-'END'
	QCNN 1;
	qubit[2] q;
	h q[0];
	cx q[0], q[1];
	observe z(q[0])*z(q[1]), x(q[0]);
	END
	cat >two.qcnn <<-'END'
	QCNN 1;
	qubit[2] q;
	input float[2] x;
	param float[2] w = {0.1, 0.2};
	rx(each x) on q;
	ry(w[0]) q[0];
	ry(w[1]) q[1];
	observe z(q);
	head { dense(1, tanh); }
	END
}

make_data() {
	printf '0.1,0.2\n0.3,0.4\n' >new.csv
	printf 'a,b,label\n0.1,0.2,1\n0.3,0.4,0\n0.5,0.1,1\n0.3,0.1,0\n1.0,0.1,1\n0.2,-0.1,0\n' >samples.csv
}

make_configs() {
	cat >config.yaml <<-'END'
	model: {file: cluster.qcnn}
	data: {generate: cluster-excitation, rounds: 10, split: 0.75}
	train:
	  epochs: 2
	  batch_size: 8
	  optimizer: {adam: {learning_rate: 0.02}}
	  metrics: [sign_accuracy]
	run: {seed: 7, isa: baseline}
	END
	cat >table.yaml <<-'END'
	model: {file: two.qcnn}
	data:
	  train: samples.csv
	  label: label
	  label_map: {0: -1, 1: 1}
	  split: {train: 0.5, validation: 0.25, test: 0.25}
	  split_shuffle: true
	train: {epochs: 2, batch_size: 2, metrics: [accuracy]}
	END
}

make_files() {
	make_models
	make_data
	make_configs
}
