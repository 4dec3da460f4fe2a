/* SPDX-License-Identifier: Apache-2.0
 * The version of the numerical results.
 *
 * Raised by one with each change after which some training or evaluation can end with other last
 * digits on the same processor, instruction set and precision. Weights files, checkpoints, the hash
 * of the configuration and the handshake of workers carry it: a checkpoint goes on to the same bits,
 * and several processes compute the same bits, only where the versions are equal.
 */
#pragma once

#define NUMERICAL_VERSION 8
