qcnn_asm 1
weights
  0 "a.t" float ~ normal(0, 0.1)
  1 "a.conv[0].t" float ~ values(0.5) frozen
  2 "b.t" float ~ normal(0, 0.1)
  3 "b.conv[0].t" float ~ values(0.5) frozen
  4 "e.none" float[2, 0] ~ uniform(0, 6.283185307179586)
  5 "head.dense[0].kernel" float[27, 3] ~ glorot_uniform(27, 3)  ; weights 4 to 84
  6 "head.dense[0].bias" float[3] ~ values(0, 0, 0)  ; weights 85 to 87
  7 "head.dense[1].kernel" float[3, 1] ~ glorot_uniform(3, 1)  ; weights 88 to 90
  8 "head.dense[1].bias" float[1] ~ values(0)
inputs
  0 "x" float[2]
exprs
  %0 = weight 0  ; a.t
  %1 = weight 1  ; a.conv[0].t
  %2 = input 0  ; x[0]
  %3 = add %2 %1
  %4 = const 3
  %5 = input 1  ; x[1]
  %6 = weight 2  ; b.t
  %7 = weight 3  ; b.conv[0].t
  %8 = add %2 %7
  %9 = const 0.1
  %10 = const 0.2
matrices
  m0 1 "x" {  ; constant, permutation
    x 0
  }
  m1 1 "z2" {  ; per sample
    rz(%3) 0
    rx(%3) 0
  }
  m2 1 "rx" {  ; constant
    rx(%4) 0
  }
  m3 1 "rx" {  ; per sample
    rx(%2) 0
  }
  m4 1 "rx" {  ; per sample
    rx(%5) 0
  }
  m5 1 "rz" {  ; shared, diagonal
    rz(%0) 0
  }
  m6 1 "z2" {  ; per sample
    rz(%8) 0
    rx(%8) 0
  }
  m7 1 "rx" {  ; constant
    rx(%9) 0
  }
  m8 1 "rx" {  ; constant
    rx(%10) 0
  }
  m9 1 "rz" {  ; shared, diagonal
    rz(%6) 0
  }
  m10 1 "h" {  ; constant
    h 0
  }
circuits
  0 "a" wires 2 {
    register "q" 0 2
    m0 0 layer 0 span 0  ; a.conv[0] line 8
    m1 1 layer 0 span 1  ; a.conv[0] line 8
    m2 0 layer 0 span 2  ; a.conv[0] line 8
    m3 0 span 3  ; line 9
    m4 1 span 3  ; line 9
    m5 0 span 4  ; line 10
    pauli 1 x0
    pauli -1 + 1 y0 + 0.5 z0 z1
    pauli 0.5 + -0.5 z1
    pauli 1 z0 + 1 z1
    probs 0 1
  }
  1 "b" wires 2 {
    register "q" 0 2
    m0 0 layer 1 span 5  ; b.conv[0] line 8
    m6 1 layer 1 span 6  ; b.conv[0] line 8
    m2 0 layer 1 span 7  ; b.conv[0] line 8
    m7 0 span 8  ; line 9
    m8 1 span 8  ; line 9
    m9 0 span 9  ; line 10
    pauli 1 x0
    pauli -1 + 1 y0 + 0.5 z0 z1
    pauli 0.5 + -0.5 z1
    pauli 1 z0 + 1 z1
    probs 0 1
  }
  2 "e" wires 3 {
    register "q" 0 3
    m10 0 layer 2 span 10  ; e.c[0] line 16
    m10 1 layer 2 span 10  ; e.c[0] line 16
    m10 2 layer 2 span 10  ; e.c[0] line 16
    pauli 1 z0
    pauli 1 z1
    pauli 1 z2
  }
  3 "a" wires 2 {
    register "q" 0 2
    m0 0 layer 0 span 11  ; a.conv[0] line 8
    m1 1 layer 0 span 12  ; a.conv[0] line 8
    m2 0 layer 0 span 13  ; a.conv[0] line 8
    m3 0 span 14  ; line 9
    m4 1 span 14  ; line 9
    m5 0 span 15  ; line 10
    pauli 1 x0
    pauli -1 + 1 y0 + 0.5 z0 z1
    pauli 0.5 + -0.5 z1
    pauli 1 z0 + 1 z1
    probs 0 1
  }
dense
  0: 27 to 3 relu kernel 5 bias 6
  1: 3 to 1 tanh kernel 7 bias 8
layers
  0 "a.conv[0]"
  1 "b.conv[0]"
  2 "e.c[0]"
spans
  0: 8 44
  1: 8 52
  2: 8 84
  3: 9 3
  4: 10 3
  5: 8 44
  6: 8 52
  7: 8 84
  8: 9 3
  9: 10 3
  10: 16 58
  11: 8 44
  12: 8 52
  13: 8 84
  14: 9 3
  15: 10 3
