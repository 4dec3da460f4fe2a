# SPDX-License-Identifier: Apache-2.0
# The manual pages. A new page: one line here.

dist_man_MANS +=
