/* SPDX-License-Identifier: Apache-2.0
 * Builds circuits gate by gate: what elaboration and the readers of other formats (import/) share.
 *
 * A caller collects the operations of one statement in a `struct calls` on wires 0 .. n-1, its operands in order,
 * changes them by modifiers (controls, inverse, power), and puts them on qubits of a circuit with the span of the
 * text they come from. compile_design() (compile.h) makes the program; readouts and heads are added by the caller.
 * The assembler does not build: its text is an image of a program, number by number (asm/). */
#pragma once

#include "compiler/circuit.h"

/* A new circuit without qubits; name "" for the only one of a file. */
struct circuit *build_circuit(struct design *d, const char *name);
/* A register of `count` qubits in |0> behind those that the circuit has; returns its first wire. */
uint32_t build_register(struct design *d, struct circuit *c, const char *name, uint32_t count,
	struct span at);

/* Gate g (word: its Pauli word, 0 for others) appended to ops; several operations if it is composite.
 * angle: numbers of expressions (exprs.h), as many as the gate's row says. */
void build_gate(struct design *d, struct calls *ops, enum gate g, uint8_t word, const uint32_t *angle);

/* n controls in front of all operands, each on |1> or each on |0>: operand k becomes n + k.
 * False, and ops undefined, if that makes more than PROGRAM_CONTROLS_MAX for an operation. */
bool build_controls(struct design *d, struct calls *ops, uint32_t n, bool on_one);
void build_inverse(struct design *d, struct calls *ops);
/* The power of a single gate whose row has one for exponents that are expressions (pow(t) @ x, swap ...);
 * false, and nothing changed, for all others. */
bool build_power(struct design *d, struct calls *ops, uint32_t exponent);

/* ops on qubits wire[0 .. n-1] of circuit c, all of them unitary; a global phase without controls goes to qubit 0. */
void build_on(struct design *d, struct circuit *c, const struct calls *ops, const uint32_t *wire,
	struct span at);
