// Cuccaro's ripple-carry adder on 3 bits: b = a + b, for a = 3 and b = 0 .. 7 in superposition.
OPENQASM 2.0;
include "qelib1.inc";
gate majority a,b,c { cx c,b; cx c,a; ccx a,b,c; }
gate unmaj a,b,c { ccx a,b,c; cx c,a; cx a,b; }
qreg cin[1];
qreg a[3];
qreg b[3];
qreg cout[1];
creg ans[4];
x a[0];
x a[1];
h b;
rz(pi/3) b[0];
rx(-2*pi/7) b[2];
majority cin[0],b[0],a[0];
majority a[0],b[1],a[1];
majority a[1],b[2],a[2];
cx a[2],cout[0];
unmaj a[1],b[2],a[2];
unmaj a[0],b[1],a[1];
unmaj cin[0],b[0],a[0];
measure b[0] -> ans[0];
measure b[1] -> ans[1];
measure b[2] -> ans[2];
measure cout[0] -> ans[3];
