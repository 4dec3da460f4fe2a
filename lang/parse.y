/* SPDX-License-Identifier: Apache-2.0
 * The grammar: an action builds one node; names, kinds and places are checked
 * later.  Recovery is at `;`, at `}` and at the `{` of a broken head. */
%require "3.8"
%define api.pure full
%define api.prefix {qcnn_yy}
%define api.token.prefix {TOKEN_}
%define api.value.type union
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%locations
%param { struct parser *p }
%initial-action { @$ = p->last.at; }

%code requires {
#include "lang/parser.h"
}

%code {
#include <string.h>

int qcnn_yylex(union QCNN_YYSTYPE *value, struct span *at, struct parser *p);
static void qcnn_yyerror(const struct span *at, struct parser *p, const char *text);

#define YYLLOC_DEFAULT(now, rhs, n) \
	((now) = (n) ? span_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n)) : span_after(YYRHSLOC(rhs, 0)))
#define LIST(to, list, node) ((to) = (list), parser_list_add(p, &(to), (node)))
#define TWO(kind_, op_, left, right, at) \
	NODE_OF(.kind = NODE_##kind_, .op = (op_), .a = (left), .b = (right), .span = (at))

static struct node *function(struct parser *p, const char *name, struct node_list args, struct span name_span, struct span at);
static struct node *call(struct parser *p, struct modifiers m, struct node *callee,
	struct node *on, struct node_list operands, struct span at);
static struct node *body_of(struct parser *p, struct node *statement, struct span at);
}

%token END 0 "end of file"
%token <const char *> ID "a name" STRING "a string"
%token <int64_t> INTEGER "an integer"
%token <double> REAL "a number"
%token QCNN "QCNN" INCLUDE "include" CONST "const" INT "int" FLOAT "float" LET "let"
%token QUBIT "qubit" GATE "gate" CTRL "ctrl" NEGCTRL "negctrl" INV "inv" POW "pow"
%token BARRIER "barrier" FOR "for" IN "in" WHILE "while" IF "if" ELSE "else"
%token MEASURE "measure" INPUT "input" PARAM "param" FROZEN "frozen" BLOCK "block"
%token LAYER "layer" EMBED "embed" DISCARD "discard" ON "on" EACH "each"
%token OBSERVE "observe" CIRCUIT "circuit" HEAD "head"
%token OPENQASM "OPENQASM" QREG "qreg" CREG "creg" BIT "bit" UINT "uint" ANGLE "angle"
%token OPAQUE "opaque" RESET "reset" MEASURE_INTO "measure into" ARROW "->"
%token ADD_TO "+=" SUB_FROM "-=" MUL_BY "*=" DIV_BY "/=" MOD_BY "%=" POW_BY "**="
%token OR "||" AND "&&" EQ "==" NE "!=" LE "<=" GE ">=" JOIN "++" POWER "**"

%precedence THEN
%precedence ELSE
%left "||"
%left "&&"
%left "==" "!="
%left '<' '>' "<=" ">="
%left "++"
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY
%right "**"

%nterm <struct node *> file_statement statement scope body value initial reference
%nterm <struct node *> dims size formal wire block_wire initializer range subscript
%nterm <struct node *> expr expr_opt primary arg instance dense callee
%nterm <struct node_list> file_statements statements names wires block_wires formals formal_list untyped
%nterm <struct node_list> operands exprs subscripts arg_list instances instance_list denses
%nterm <struct arguments> args
%nterm <struct modifiers> modifiers
%nterm <struct modifier> modifier
%nterm <int> type loop_type input_type assign frozen
%nterm <double> number
%nterm version

%%
file:
  file_statements             { p->tree->file = NODE_OF(.kind = NODE_FILE, .list = $1, .span = @$); }

file_statements:
  %empty                      { $$ = (struct node_list){ 0 }; }
| file_statements file_statement    { LIST($$, $1, $2); p->statements = $$; }
| file_statements statement   { LIST($$, $1, $2); p->statements = $$; }
| file_statements '}'         { $$ = $1; parser_unmatched(p, @2); }

file_statement:
  version                     { $$ = NULL; }
| "include" STRING ';'        { $$ = NODE_OF(.kind = NODE_INCLUDE, .text = $2, .callee_span = @2, .span = @$);
                                parser_include(p, $2, @2, @$); }

version:
  "QCNN" number ';'           { parser_version(p, $2, @1, @2); }
| "OPENQASM" number ';'       { parser_version(p, $2, @1, @2); }

number:
  INTEGER                     { $$ = (double)$1; }
| REAL

statements:
  %empty                      { $$ = (struct node_list){ 0 }; }
| statements statement        { LIST($$, $1, $2); }

scope:
  '{' statements '}'          { $$ = NODE_OF(.kind = NODE_SCOPE, .list = $2, .span = @$, .name_span = @1); }
| '{' statements error '}'    { parser_list_add(p, &$2, NODE_OF(.kind = NODE_ERROR, .span = @3));
                                $$ = NODE_OF(.kind = NODE_SCOPE, .list = $2, .span = @$, .name_span = @1);
                                yyerrok; }

statement:
  ';'                         { $$ = NULL; }
| error ';'                   { $$ = NODE_OF(.kind = NODE_ERROR, .span = @$); yyerrok; }
| error scope                 { $$ = NODE_OF(.kind = NODE_ERROR, .span = @$); yyerrok; }
| scope
| "const" type dims ID '=' expr ';'
                              { $$ = NODE_OF(.kind = NODE_CONST, .op = $2, .a = parser_dims(p, $3), .b = $6, .name = $4,
                                .name_span = @4, .span = @$); }
| type dims ID initial ';'    { $$ = NODE_OF(.kind = NODE_VAR, .op = $1, .a = parser_dims(p, $2), .b = $4, .name = $3,
                                .name_span = @3, .span = @$); }
| "let" ID '=' expr ';'       { $$ = NODE_OF(.kind = NODE_LET, .b = $4, .name = $2, .name_span = @2, .span = @$); }
| reference assign expr ';'   { $$ = TWO(ASSIGN, $2, $1, $3, @$); }
| "qubit" size ID ';'         { $$ = NODE_OF(.kind = NODE_QUBIT, .a = $2, .name = $3, .name_span = @3, .span = @$); }
| "qreg" ID size ';'          { $$ = NODE_OF(.kind = NODE_QUBIT, .a = $3, .name = $2, .name_span = @2, .span = @$); }
| "creg" ID size ';'          { $$ = NODE_OF(.kind = NODE_BITS, .a = $3, .name = $2, .name_span = @2, .span = @$); }
| "bit" size ID ';'           { $$ = NODE_OF(.kind = NODE_BITS, .a = $2, .name = $3, .name_span = @3, .span = @$); }
| "bit" size ID '=' "measure into" reference ';'
                              { $$ = NODE_OF(.kind = NODE_BITS, .a = $2, .b = $6, .name = $3, .name_span = @3,
                                .span = @$); }
| "measure into" reference ';'      { $$ = NODE_OF(.kind = NODE_MEASURE, .a = $2, .span = @$); }
| "measure into" reference "->" reference ';'
                              { $$ = NODE_OF(.kind = NODE_MEASURE, .a = $2, .b = $4, .span = @$); }
| reference '=' "measure into" reference ';'
                              { $$ = NODE_OF(.kind = NODE_MEASURE, .a = $4, .b = $1, .span = @$); }
| "reset" operands ';'        { $$ = NODE_OF(.kind = NODE_RESET, .list = $2, .span = @$); }
| "opaque" ID untyped wires ';'     { $$ = NODE_OF(.kind = NODE_OPAQUE, .name = $2, .name_span = @2, .span = @$); }
| "gate" ID untyped wires scope
                              { $$ = NODE_OF(.kind = NODE_GATE_DEF, .name = $2, .name_span = @2, .c = $5,
                                .list = parser_joined(p, $3, $4), .span = @$); }
| "gate" ID untyped wires '=' expr ';'
                              { $$ = NODE_OF(.kind = NODE_MATRIX_DEF, .name = $2, .name_span = @2, .a = $6,
                                .list = parser_joined(p, $3, $4), .span = @$); }
| "gate" ID untyped wires '=' STRING ';'
                              { $$ = NODE_OF(.kind = NODE_MATRIX_DEF, .name = $2, .name_span = @2, .text = $6,
                                .callee_span = @6, .value.i = parser_text(p, $6, @6),
                                .list = parser_joined(p, $3, $4), .span = @$); }
| "block" ID formals block_wires scope
                              { $$ = NODE_OF(.kind = NODE_BLOCK_DEF, .name = $2, .name_span = @2, .c = $5,
                                .list = parser_joined(p, $3, $4), .span = @$); }
| callee ';'                  { $$ = call(p, (struct modifiers){ 0 }, $1, NULL, (struct node_list){ 0 }, @$); }
| callee operands ';'         { $$ = call(p, (struct modifiers){ 0 }, $1, NULL, $2, @$); }
| callee "on" expr ';'        { $$ = call(p, (struct modifiers){ 0 }, $1, $3, (struct node_list){ 0 }, @$); }
| modifiers callee ';'        { $$ = call(p, $1, $2, NULL, (struct node_list){ 0 }, @$); }
| modifiers callee operands ';'     { $$ = call(p, $1, $2, NULL, $3, @$); }
| modifiers callee "on" expr ';'    { $$ = call(p, $1, $2, $4, (struct node_list){ 0 }, @$); }
| "barrier" ';'               { $$ = NODE_OF(.kind = NODE_BARRIER, .span = @$); }
| "barrier" operands ';'      { $$ = NODE_OF(.kind = NODE_BARRIER, .list = $2, .span = @$); }
| "for" loop_type ID "in" value body
                              { $$ = NODE_OF(.kind = NODE_FOR, .op = $2, .name = $3, .name_span = @3, .a = $5,
                                .c = $6, .span = @$); }
| "while" '(' expr ')' body   { $$ = NODE_OF(.kind = NODE_WHILE, .a = $3, .c = $5, .span = @$); }
| "if" '(' expr ')' body %prec THEN
                              { $$ = NODE_OF(.kind = NODE_IF, .a = $3, .c = $5, .span = @$); }
| "if" '(' expr ')' body "else" body
                              { $$ = NODE_OF(.kind = NODE_IF, .a = $3, .b = $7, .c = $5, .span = @$); }
| "if" '(' "measure" reference ')' body %prec THEN
                              { $$ = NODE_OF(.kind = NODE_IF_MEASURE, .a = $4, .c = $6, .span = @$); }
| "if" '(' "measure" reference ')' body "else" body
                              { $$ = NODE_OF(.kind = NODE_IF_MEASURE, .a = $4, .b = $8, .c = $6, .span = @$); }
| "param" "float" dims ID frozen ';'
                              { $$ = NODE_OF(.kind = NODE_PARAM, .op = $5, .a = $3, .name = $4, .name_span = @4,
                                .span = @$); }
| "param" "float" dims ID '=' expr frozen ';'
                              { $$ = NODE_OF(.kind = NODE_PARAM, .op = $7, .a = $3, .b = $6, .name = $4,
                                .name_span = @4, .span = @$); }
| "param" "float" dims ID '~' initializer frozen ';'
                              { $$ = NODE_OF(.kind = NODE_PARAM, .op = $7, .a = $3, .c = $6, .name = $4,
                                .name_span = @4, .span = @$); }
| "input" input_type dims ID ';'
                              { $$ = NODE_OF(.kind = NODE_INPUT, .op = $2, .a = parser_dims(p, $3), .name = $4,
                                .name_span = @4, .span = @$); }
| "input" ID ID ';'           { parser_expect_word(p, $2, @2, "state");
                                $$ = NODE_OF(.kind = NODE_INPUT, .op = AST_TYPE_STATE, .name = $3,
                                .name_span = @3, .span = @$); }
| "discard" operands ';'      { $$ = NODE_OF(.kind = NODE_DISCARD, .list = $2, .span = @$); }
| "observe" exprs ';'         { $$ = NODE_OF(.kind = NODE_OBSERVE, .list = $2, .span = @$); }
| "layer" ID scope            { $$ = NODE_OF(.kind = NODE_LAYER, .name = $2, .name_span = @2, .c = $3, .span = @$); }
| "embed" scope               { $$ = NODE_OF(.kind = NODE_EMBED, .name_span = @1, .c = $2, .span = @$); }
| "circuit" ID formals scope  { $$ = NODE_OF(.kind = NODE_CIRCUIT, .name = $2, .name_span = @2, .c = $4,
                                .list = $3, .span = @$); }
| "head" instances '{' denses '}'   { $$ = NODE_OF(.kind = NODE_HEAD, .name_span = @1,
                                .list = parser_joined(p, $2, $4), .span = @$); }
| "head" instances '{' denses error '}'
                              { $$ = NODE_OF(.kind = NODE_ERROR, .span = @$); yyerrok; }

body:
  statement                   { $$ = body_of(p, $1, @1); }

/* Declarations. */
type:
  "int"                       { $$ = AST_TYPE_INT; }
| "float"                     { $$ = AST_TYPE_FLOAT; }
| "uint"                      { $$ = AST_TYPE_INT; }
| "angle"                     { $$ = AST_TYPE_FLOAT; }

input_type:
  "float"                     { $$ = AST_TYPE_FLOAT; }
| "angle"                     { $$ = AST_TYPE_FLOAT; }

loop_type:
  %empty                      { $$ = AST_NONE; }
| type dims                   { parser_width(p, $2, "a name"); $$ = $1; }

dims:
  %empty                      { $$ = NULL; }
| '[' exprs ']'               { $$ = NODE_OF(.kind = NODE_DIMS, .list = $2, .span = @$); }

size:
  %empty                      { $$ = NULL; }
| '[' expr ']'                { $$ = $2; }

initial:
  %empty                      { $$ = NULL; }
| '=' expr                    { $$ = $2; }

initializer:
  ID '(' exprs ')'            { $$ = NODE_OF(.kind = NODE_APPLY, .name = $1, .name_span = @1, .args = $3,
                                .has_args = true, .span = @$); }

frozen:
  %empty                      { $$ = 0; }
| "frozen"                    { $$ = 1; }

formals:
  %empty                      { $$ = (struct node_list){ 0 }; }
| '(' ')'                     { $$ = (struct node_list){ 0 }; }
| '(' formal_list ')'         { $$ = $2; }

formal_list:
  formal                      { $$ = (struct node_list){ 0 }; parser_list_add(p, &$$, $1); }
| formal_list ',' formal      { LIST($$, $1, $3); }

formal:
  type dims ID                { $$ = NODE_OF(.kind = NODE_FORMAL, .op = $1, .a = $2, .name = $3,
                                .name_span = @3, .span = @$); }

untyped:
  %empty                      { $$ = (struct node_list){ 0 }; }
| '(' ')'                     { $$ = (struct node_list){ 0 }; }
| '(' names ')'               { $$ = $2; }

names:
  ID                          { $$ = (struct node_list){ 0 };
                                parser_list_add(p, &$$, NODE_OF(.kind = NODE_FORMAL, .op = AST_TYPE_FLOAT,
                                .name = $1, .name_span = @1, .span = @1)); }
| names ',' ID                { LIST($$, $1, NODE_OF(.kind = NODE_FORMAL, .op = AST_TYPE_FLOAT, .name = $3,
                                .name_span = @3, .span = @3)); }

wires:
  wire                        { $$ = (struct node_list){ 0 }; parser_list_add(p, &$$, $1); }
| wires ',' wire              { LIST($$, $1, $3); }

wire:
  ID                          { $$ = NODE_OF(.kind = NODE_FORMAL, .op = AST_TYPE_QUBIT, .name = $1,
                                .name_span = @1, .span = @1); }

block_wires:
  block_wire                  { $$ = (struct node_list){ 0 }; parser_list_add(p, &$$, $1); }
| block_wires ',' block_wire  { LIST($$, $1, $3); }

block_wire:
  ID size                     { $$ = NODE_OF(.kind = NODE_FORMAL, .op = AST_TYPE_QUBIT, .a = $2, .name = $1,
                                .name_span = @1, .span = @$); }

/* Calls. */
callee:
  ID args                     { $$ = NODE_OF(.kind = NODE_CALL, .name = $1, .name_span = @1,
                                .args = $2.list, .has_args = $2.present, .span = @$); }
| ID '(' STRING ')'           { $$ = NODE_OF(.kind = NODE_CALL, .name = $1, .name_span = @1, .text = $3,
                                .callee_span = @3, .value.i = parser_text(p, $3, @3), .has_args = true,
                                .span = @$); }

args:
  %empty                      { $$ = (struct arguments){ 0 }; }
| '(' ')'                     { $$ = (struct arguments){ .present = true }; }
| '(' arg_list ')'            { $$ = (struct arguments){ .list = $2, .present = true }; }

arg_list:
  arg                         { $$ = (struct node_list){ 0 }; parser_list_add(p, &$$, $1); }
| arg_list ',' arg            { LIST($$, $1, $3); }

arg:
  expr
| "each" reference            { $$ = NODE_OF(.kind = NODE_EACH, .a = $2, .span = @$); }

operands:
  reference                   { $$ = (struct node_list){ 0 }; parser_list_add(p, &$$, $1); }
| operands ',' reference      { LIST($$, $1, $3); }

reference:
  ID                          { $$ = NODE_OF(.kind = NODE_NAME, .name = $1, .name_span = @1, .span = @$); }
| reference '[' subscripts ']'      { $$ = NODE_OF(.kind = NODE_INDEX, .a = $1, .list = $3, .span = @$); }

modifiers:
  modifier '@'                { $$ = (struct modifiers){ 0 }; *arena_push(&p->tree->arena, $$.v, $$.n) = $1; }
| modifiers modifier '@'      { $$ = $1; *arena_push(&p->tree->arena, $$.v, $$.n) = $2; }

modifier:
  "ctrl"                      { $$ = (struct modifier){ MODIFIER_CTRL, NULL, @$ }; }
| "ctrl" '(' expr ')'         { $$ = (struct modifier){ MODIFIER_CTRL, $3, @$ }; }
| "negctrl"                   { $$ = (struct modifier){ MODIFIER_NEGCTRL, NULL, @$ }; }
| "negctrl" '(' expr ')'      { $$ = (struct modifier){ MODIFIER_NEGCTRL, $3, @$ }; }
| "inv"                       { $$ = (struct modifier){ MODIFIER_INV, NULL, @$ }; }
| "pow" '(' expr ')'          { $$ = (struct modifier){ MODIFIER_POW, $3, @$ }; }

assign:
  '='                         { $$ = AST_SET_TO; }
| "+="                        { $$ = AST_ADD; }
| "-="                        { $$ = AST_SUB; }
| "*="                        { $$ = AST_MUL; }
| "/="                        { $$ = AST_DIV; }
| "%="                        { $$ = AST_MOD; }
| "**="                       { $$ = AST_POW; }

/* The head. */
instances:
  %empty                      { $$ = (struct node_list){ 0 }; }
| '(' instance_list ')'       { $$ = $2; }

instance_list:
  instance                    { $$ = (struct node_list){ 0 }; parser_list_add(p, &$$, $1); }
| instance_list ',' instance  { LIST($$, $1, $3); }

instance:
  ID args ID                  { $$ = NODE_OF(.kind = NODE_INSTANCE, .text = $1, .callee_span = @1, .name = $3,
                                .name_span = @3, .args = $2.list, .has_args = $2.present, .span = @$); }

denses:
  %empty                      { $$ = (struct node_list){ 0 }; }
| denses dense                { LIST($$, $1, $2); }

dense:
  ID ';'                      { parser_head_layer(p, $1, @1, false);
                                $$ = NULL; }
| ID '(' expr ')' ';'         { $$ = !parser_head_layer(p, $1, @1, true) ? NULL
                                : NODE_OF(.kind = NODE_DENSE, .a = $3, .span = @$, .name_span = @1); }
| ID '(' expr ',' ID ')' ';'  { $$ = !parser_head_layer(p, $1, @1, true) ? NULL
                                : NODE_OF(.kind = NODE_DENSE, .a = $3, .text = $5, .callee_span = @5,
                                .span = @$, .name_span = @1); }
| error ';'                   { $$ = NULL; yyerrok; }

/* Expressions. */
value:
  '[' range ']'               { $$ = $2; }
| expr

range:
  expr_opt ':' expr_opt       { $$ = NODE_OF(.kind = NODE_RANGE, .a = $1, .c = $3, .span = @$); }
| expr_opt ':' expr ':' expr_opt
                              { $$ = NODE_OF(.kind = NODE_RANGE, .a = $1, .b = $3, .c = $5, .span = @$); }

expr_opt:
  %empty                      { $$ = NULL; }
| expr

subscript:
  expr
| range

subscripts:
  subscript                   { $$ = (struct node_list){ 0 }; parser_list_add(p, &$$, $1); }
| subscripts ',' subscript    { LIST($$, $1, $3); }

exprs:
  expr                        { $$ = (struct node_list){ 0 }; parser_list_add(p, &$$, $1); }
| exprs ',' expr              { LIST($$, $1, $3); }

expr:
  primary
| expr '+' expr               { $$ = TWO(BINARY, AST_ADD, $1, $3, @$); }
| expr '-' expr               { $$ = TWO(BINARY, AST_SUB, $1, $3, @$); }
| expr '*' expr               { $$ = TWO(BINARY, AST_MUL, $1, $3, @$); }
| expr '/' expr               { $$ = TWO(BINARY, AST_DIV, $1, $3, @$); }
| expr '%' expr               { $$ = TWO(BINARY, AST_MOD, $1, $3, @$); }
| expr "**" expr              { $$ = TWO(BINARY, AST_POW, $1, $3, @$); }
| expr "++" expr              { $$ = TWO(BINARY, AST_JOIN, $1, $3, @$); }
| expr '<' expr               { $$ = TWO(BINARY, AST_LT, $1, $3, @$); }
| expr "<=" expr              { $$ = TWO(BINARY, AST_LE, $1, $3, @$); }
| expr '>' expr               { $$ = TWO(BINARY, AST_GT, $1, $3, @$); }
| expr ">=" expr              { $$ = TWO(BINARY, AST_GE, $1, $3, @$); }
| expr "==" expr              { $$ = TWO(BINARY, AST_EQ, $1, $3, @$); }
| expr "!=" expr              { $$ = TWO(BINARY, AST_NE, $1, $3, @$); }
| expr "&&" expr              { $$ = TWO(BINARY, AST_AND, $1, $3, @$); }
| expr "||" expr              { $$ = TWO(BINARY, AST_OR, $1, $3, @$); }
| '-' expr %prec UNARY        { $$ = NODE_OF(.kind = NODE_UNARY, .op = AST_NEG, .a = $2, .span = @$); }
| '+' expr %prec UNARY        { $$ = NODE_OF(.kind = NODE_UNARY, .op = AST_PLUS, .a = $2, .span = @$); }
| '!' expr %prec UNARY        { $$ = NODE_OF(.kind = NODE_UNARY, .op = AST_NOT, .a = $2, .span = @$); }

primary:
  INTEGER                     { $$ = NODE_OF(.kind = NODE_INT, .value.i = $1, .span = @$); }
| REAL                        { $$ = NODE_OF(.kind = NODE_REAL, .value.f = $1, .span = @$); }
| ID                          { $$ = NODE_OF(.kind = NODE_NAME, .name = $1, .name_span = @1, .span = @$); }
| ID '(' exprs ')'            { $$ = NODE_OF(.kind = NODE_APPLY, .name = $1, .name_span = @1, .args = $3,
                                .has_args = true, .span = @$); }
| ID '(' STRING ')'           { $$ = parser_read(p, $1, $3, @3, (struct node_list){ 0 }, @1, @$); }
| ID '(' STRING ',' exprs ')' { $$ = parser_read(p, $1, $3, @3, $5, @1, @$); }
| "pow" '(' exprs ')'         { $$ = function(p, "pow", $3, @1, @$); }
| type dims '(' exprs ')'     { parser_width(p, $2, "`(`");
                                $$ = function(p, ast_op_text($1), $4, @1, @$); }
| primary '[' subscripts ']'  { $$ = NODE_OF(.kind = NODE_INDEX, .a = $1, .list = $3, .span = @$); }
| '(' expr ')'                { $$ = $2; }
| '(' expr ',' exprs ')'      { $$ = NODE_OF(.kind = NODE_TUPLE, .span = @$,
                                .list = parser_prepended(p, $2, $4)); }
| '{' exprs '}'               { $$ = NODE_OF(.kind = NODE_SET, .list = $2, .span = @$); }
%%

/* A function whose name is a reserved word. */
static struct node *function(struct parser *p, const char *name, struct node_list args, struct span name_span, struct span at)
{
	return NODE_OF(.kind = NODE_APPLY, .name = name, .name_span = name_span, .args = args, .has_args = true, .span = at);
}

static struct node *call(struct parser *p, struct modifiers m, struct node *callee,
	struct node *on, struct node_list operands, struct span at)
{
	struct node n = *callee;

	n.span = at;
	n.a = on;
	n.list = operands;
	n.modifier = m.v;
	n.nmodifier = m.n;
	return parser_node(p, &n);
}

static struct node *body_of(struct parser *p, struct node *statement, struct span at)
{
	return statement ? statement : NODE_OF(.kind = NODE_SCOPE, .span = at, .name_span = at);
}

enum { EXPECTED_MAX = YYNTOKENS };

static const struct { const char *word; int token; } words[YYNTOKENS] = {
#define KEYWORD(token_, word_, dialects) [YYSYMBOL_##token_] = { word_, TOKEN_##token_ },
#include "lang/tokens.def"
	[YYSYMBOL_ARROW] = { "->", TOKEN_ARROW },
};

static const char *symbol_name(yysymbol_kind_t k) { return words[k].word ? words[k].word : yysymbol_name(k); }

static int yyreport_syntax_error(const yypcontext_t *ctx, struct parser *p)
{
	yysymbol_kind_t want[EXPECTED_MAX];
	const char *name[EXPECTED_MAX];
	int n = yypcontext_expected_tokens(ctx, want, EXPECTED_MAX);

	size_t nname = 0;
	for (int i = 0; i < n; i++)
		if (!words[want[i]].word || scan_is_keyword(p, words[want[i]].token))
			name[nname++] = symbol_name(want[i]);
	parser_syntax_error(p, symbol_name(yypcontext_token(ctx)), name, nname);
	return 0;
}

/* Called when the grammar's stack is full only; syntax errors come above. */
static void qcnn_yyerror(const struct span *at, struct parser *p, const char *text)
{
	(void)text;
	if (!p->stop)
		diag_at(p->diags, DIAG_TOO_NESTED, *at, "this is nested too deeply");
	parser_stop(p);
}

void parser_run(struct parser *p) { yyparse(p); }
