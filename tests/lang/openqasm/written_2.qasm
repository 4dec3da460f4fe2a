OPENQASM 2.0;
include "qelib1.inc";
gate rcccx q0,q1,q2,q3 { h q3; t q3; cx q2,q3; tdg q3; h q3; cx q0,q3; t q3; cx q1,q3; tdg q3; cx q0,q3; t q3; cx q1,q3; tdg q3; h q3; t q3; cx q2,q3; tdg q3; h q3; }
gate ecr q0,q1 { s q0; sx q1; cx q0,q1; x q0; }
gate csdg q0,q1 { tdg q0; cx q0,q1; t q1; cx q0,q1; tdg q1; }
qreg q[4];
rcccx q[1],q[0],q[2],q[3];
ecr q[3],q[0];
cy q[2],q[1];
csdg q[2],q[1];
u(5.763411765378487,4.580260416775179,5.8558452732101145) q[0];
ch q[1],q[2];
rxx(5.525286585617256) q[3],q[0];
sxdg q[1];
cp(0.6748984677431856) q[1],q[0];