qcnn_asm 1
weights
  0 "conv[0].t" float[15] ~ uniform(0, 6.283185307179586)  ; weights 0 to 14
  1 "pool[0].t" float[6] ~ uniform(0, 6.283185307179586)  ; weights 15 to 20
  2 "head.dense[0].kernel" float[4, 8] ~ glorot_uniform(4, 8)  ; weights 21 to 52
  3 "head.dense[0].bias" float[8] ~ values(0, 0, 0, 0, 0, 0, 0, 0)  ; weights 53 to 60
  4 "head.dense[1].kernel" float[8, 1] ~ glorot_uniform(8, 1)  ; weights 61 to 68
  5 "head.dense[1].bias" float[1] ~ values(0)
inputs
  0 "x" float[8]
exprs
  %0 = input 0  ; x[0]
  %1 = input 1  ; x[1]
  %2 = input 2  ; x[2]
  %3 = input 3  ; x[3]
  %4 = input 4  ; x[4]
  %5 = input 5  ; x[5]
  %6 = input 6  ; x[6]
  %7 = input 7  ; x[7]
  %8 = weight 0  ; conv[0].t[0]
  %9 = weight 1  ; conv[0].t[1]
  %10 = weight 2  ; conv[0].t[2]
  %11 = weight 3  ; conv[0].t[3]
  %12 = weight 4  ; conv[0].t[4]
  %13 = weight 5  ; conv[0].t[5]
  %14 = weight 6  ; conv[0].t[6]
  %15 = weight 7  ; conv[0].t[7]
  %16 = weight 8  ; conv[0].t[8]
  %17 = weight 9  ; conv[0].t[9]
  %18 = weight 10  ; conv[0].t[10]
  %19 = weight 11  ; conv[0].t[11]
  %20 = weight 12  ; conv[0].t[12]
  %21 = weight 13  ; conv[0].t[13]
  %22 = weight 14  ; conv[0].t[14]
  %23 = weight 15  ; pool[0].t[0]
  %24 = weight 16  ; pool[0].t[1]
  %25 = weight 17  ; pool[0].t[2]
  %26 = weight 18  ; pool[0].t[3]
  %27 = weight 19  ; pool[0].t[4]
  %28 = weight 20  ; pool[0].t[5]
matrices
  m0 1 "h" {  ; constant
    h 0
  }
  m1 1 "z" {  ; constant, diagonal
    z 0
  }
  m2 1 "rx" {  ; per sample
    rx(%0) 0
  }
  m3 1 "rx" {  ; per sample
    rx(%1) 0
  }
  m4 1 "rx" {  ; per sample
    rx(%2) 0
  }
  m5 1 "rx" {  ; per sample
    rx(%3) 0
  }
  m6 1 "rx" {  ; per sample
    rx(%4) 0
  }
  m7 1 "rx" {  ; per sample
    rx(%5) 0
  }
  m8 1 "rx" {  ; per sample
    rx(%6) 0
  }
  m9 1 "rx" {  ; per sample
    rx(%7) 0
  }
  m10 1 "rotate" {  ; shared
    pow_x(%8) 0
    pow_y(%9) 0
    pow_z(%10) 0
  }
  m11 1 "rotate" {  ; shared
    pow_x(%11) 0
    pow_y(%12) 0
    pow_z(%13) 0
  }
  m12 1 "rotate" {  ; shared
    pow_x(%17) 0
    pow_y(%18) 0
    pow_z(%19) 0
  }
  m13 1 "rotate" {  ; shared
    pow_x(%20) 0
    pow_y(%21) 0
    pow_z(%22) 0
  }
  m14 2 "entangle" {  ; shared
    m10 0
    m11 1
    pow_zz(%14) 0 1
    pow_yy(%15) 0 1
    pow_xx(%16) 0 1
    m12 0
    m13 1
  }
  m15 1 "rotate" {  ; shared
    pow_x(%23) 0
    pow_y(%24) 0
    pow_z(%25) 0
  }
  m16 1 "rotate" {  ; shared
    pow_x(%26) 0
    pow_y(%27) 0
    pow_z(%28) 0
  }
  m17 2 "merge" {  ; shared
    m15 1
    m16 0
    ctrl x 0 1
    inv m15 1
  }
circuits
  0 "" wires 8 {
    register "q" 0 8
    m0 0 layer 0 span 0  ; embed[0] line 23
    m0 1 layer 0 span 0  ; embed[0] line 23
    m0 2 layer 0 span 0  ; embed[0] line 23
    m0 3 layer 0 span 0  ; embed[0] line 23
    m0 4 layer 0 span 0  ; embed[0] line 23
    m0 5 layer 0 span 0  ; embed[0] line 23
    m0 6 layer 0 span 0  ; embed[0] line 23
    m0 7 layer 0 span 0  ; embed[0] line 23
    ctrl m1 0 1 layer 0 span 1  ; embed[0] line 23
    ctrl m1 1 2 layer 0 span 1  ; embed[0] line 23
    ctrl m1 2 3 layer 0 span 1  ; embed[0] line 23
    ctrl m1 3 4 layer 0 span 1  ; embed[0] line 23
    ctrl m1 4 5 layer 0 span 1  ; embed[0] line 23
    ctrl m1 5 6 layer 0 span 1  ; embed[0] line 23
    ctrl m1 6 7 layer 0 span 1  ; embed[0] line 23
    ctrl m1 7 0 layer 0 span 1  ; embed[0] line 23
    m2 0 layer 0 span 2  ; embed[0] line 23
    m3 1 layer 0 span 2  ; embed[0] line 23
    m4 2 layer 0 span 2  ; embed[0] line 23
    m5 3 layer 0 span 2  ; embed[0] line 23
    m6 4 layer 0 span 2  ; embed[0] line 23
    m7 5 layer 0 span 2  ; embed[0] line 23
    m8 6 layer 0 span 2  ; embed[0] line 23
    m9 7 layer 0 span 2  ; embed[0] line 23
    m14 0 1 layer 1 span 3  ; conv[0] line 24
    m14 2 3 layer 1 span 3  ; conv[0] line 24
    m14 4 5 layer 1 span 3  ; conv[0] line 24
    m14 6 7 layer 1 span 3  ; conv[0] line 24
    m14 1 2 layer 1 span 3  ; conv[0] line 24
    m14 3 4 layer 1 span 3  ; conv[0] line 24
    m14 5 6 layer 1 span 3  ; conv[0] line 24
    m14 7 0 layer 1 span 3  ; conv[0] line 24
    m17 0 4 layer 2 span 5  ; pool[0] line 25
    discard 0 layer 2 span 4  ; pool[0] line 20
    m17 1 5 layer 2 span 5  ; pool[0] line 25
    discard 1 layer 2 span 4  ; pool[0] line 20
    m17 2 6 layer 2 span 5  ; pool[0] line 25
    discard 2 layer 2 span 4  ; pool[0] line 20
    m17 3 7 layer 2 span 5  ; pool[0] line 25
    discard 3 layer 2 span 4  ; pool[0] line 20
    pauli 1 z4
    pauli 1 z5
    pauli 1 z6
    pauli 1 z7
  }
dense
  0: 4 to 8 linear kernel 2 bias 3
  1: 8 to 1 linear kernel 4 bias 5
layers
  0 "embed[0]" embed
  1 "conv[0]"
  2 "pool[0]"
spans
  0: 23 9
  1: 23 15
  2: 23 32
  3: 24 34
  4: 20 3
  5: 25 33
