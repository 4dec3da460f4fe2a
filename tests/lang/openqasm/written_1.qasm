OPENQASM 2.0;
include "qelib1.inc";
gate r(param0,param1) q0 { u(param0,-pi/2 + param1,pi/2 - param1) q0; }
gate ecr q0,q1 { s q0; sx q1; cx q0,q1; x q0; }
gate ryy(param0) q0,q1 { sxdg q0; sxdg q1; cx q0,q1; rz(param0) q1; cx q0,q1; sx q0; sx q1; }
qreg q[4];
r(5.720257004774101,6.187702726072003) q[0];
rccx q[2],q[3],q[1];
r(3.2531173529937476,0.7353832762045476) q[2];
crz(5.1145538017006995) q[1],q[0];
cswap q[2],q[1],q[3];
sx q[3];
ecr q[1],q[0];
ccx q[1],q[0],q[2];
u3(4.603384931777752,3.002671620610689,0.7836472489195497) q[2];
r(3.79868746953252,4.6931399682046875) q[1];
ryy(4.67561242130948) q[0],q[3];