OPENQASM 3.1;
include "stdgates.inc";
gate g(θ, b) p, r { gphase(θ/3); rx(θ) p; ctrl @ U(b, θ, -b) p, r; inv @ t r; }
const float[64] half = 1 / 2.0;
const angle[32] a = π * half;
qubit[4] q;
let low = q[0:1];
let high = q[{2, 3}];
h q;
u1(0.3) low;
cu(0.1, 0.2, 0.3, a) low, high;
pow(2) @ g(0.4, 0.5) q[0], q[2];
inv @ g(1.4, -0.5) q[3], q[1];
ctrl @ g(τ/7, ℇ) q[1], q[0], q[3];
negctrl(2) @ ctrl @ s q[0], q[1], q[3], q[2];
pow(half) @ z q[0];
pow(-2) @ s q[1];
inv @ pow(3) @ ctrl @ sx q[0], q[1];
ctrl @ gphase(0.9) q[2];
gphase(-0.2);
if (half < 1) { cy q[0], high; } else { x q; }
