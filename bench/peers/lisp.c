/* lisp FILE REPEAT: a Lisp interpreter whose code is a tree of objects. Calls allocate environments (lists of
 * bindings), closures and boxed numbers. Evaluates the forms of FILE REPEAT times. The checksum covers the values that
 * are numbers. Special forms: if, lambda, (define (name parameter ...) body). Functions: + - < = cons car cdr null.
 *
 * With malloc nothing is freed: only a collector finds out when an environment is dead. */
#include "peer.h"

#include <ctype.h>

PEER_VARIANT(number, PEER_KIND + 1);  /* N */
PEER_VARIANT(pair, PEER_KIND + 2);    /* CAR, CDR */
PEER_VARIANT(closure, PEER_KIND + 3); /* PARAMETERS, BODY, DEFINED_IN */
PEER_VARIANT(symbol, PEER_KIND + 4);  /* GLOBAL, OPERATOR, NAME, BEFORE: the symbol made before it */
PEER_CLASS(binding, 3);               /* SYMBOL, BOUND, OUTER */
enum { N = PEER_KIND, CAR = PEER_KIND, CDR, PARAMETERS = PEER_KIND, BODY, DEFINED_IN };
enum { GLOBAL = PEER_KIND, OPERATOR, NAME, BEFORE, SYMBOL = 0, BOUND, OUTER };

enum op { CALL, IF, LAMBDA, DEFINE, ADD, SUBTRACT, LESS, EQUAL, CONS, CAR_OF, CDR_OF, IS_NULL, OPERATORS };
static const char *const operator_names[] = {"",  "if", "lambda", "define", "+",   "-",
                                             "<", "=",  "cons",   "car",    "cdr", "null"};
enum { NAME_SIZE = 24 };

static peer_ref make_number(int64_t n) {
    peer_ref number = PEER_NEW_VARIANT(number);
    peer_int_set(number, N, n);
    return number;
}

static peer_ref cons(peer_ref car, peer_ref cdr) {
    PEER_FRAME(local, 2);
    local[0] = car;
    local[1] = cdr;
    peer_ref pair = PEER_NEW_VARIANT(pair);
    peer_slot_set(pair, CAR, local[0]);
    peer_slot_set(pair, CDR, local[1]);
    return pair;
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 * symbols: a root, the symbol made last, from which BEFORE leads to all others. t is true; nil, PEER_NONE, is false. */

static peer_ref intern(peer_ref *symbols, const char *name) {
    for (peer_ref symbol = *symbols; symbol != PEER_NONE; symbol = peer_slot(symbol, BEFORE)) {
        if (strcmp((const char *)peer_data(peer_slot(symbol, NAME)), name) == 0) {
            return symbol;
        }
    }
    PEER_FRAME(local, 1);
    local[0] = peer_bytes(NAME_SIZE);
    snprintf((char *)peer_data(local[0]), NAME_SIZE, "%s", name);
    peer_ref symbol = PEER_NEW_VARIANT(symbol);
    peer_slot_set(symbol, NAME, local[0]);
    peer_slot_set(symbol, BEFORE, *symbols);
    int op = OPERATORS - 1;
    while (op > CALL && strcmp(name, operator_names[op]) != 0) {
        op--;
    }
    peer_int_set(symbol, OPERATOR, op);
    return *symbols = symbol;
}

static const char *skip(const char *text) {
    while (isspace((unsigned char)*text) || *text == ';') {
        text += *text == ';' ? strcspn(text, "\n") : 1;
    }
    return text;
}

static peer_ref read_form(const char **text, peer_ref *symbols);

static peer_ref read_list(const char **text, peer_ref *symbols) {
    *text = skip(*text);
    if (**text == ')' || **text == '\0') {
        *text += **text == ')';
        return PEER_NONE;
    }
    PEER_FRAME(local, 1);
    local[0] = read_form(text, symbols);
    peer_ref rest = read_list(text, symbols);
    return cons(local[0], rest);
}

static peer_ref read_form(const char **text, peer_ref *symbols) {
    *text = skip(*text);
    if (**text == '(') {
        ++*text;
        return read_list(text, symbols);
    }
    char word[NAME_SIZE];
    size_t length = strcspn(*text, " \n()");
    snprintf(word, sizeof word, "%.*s", (int)length, *text);
    *text += length;
    if (isdigit((unsigned char)word[0])) {
        return make_number(strtol(word, NULL, 10));
    }
    return strcmp(word, "nil") == 0 ? PEER_NONE : intern(symbols, word);
}

/* ---- evaluating ---------------------------------------------------------------------------------------------------
 */

static peer_ref eval_pair(peer_ref form, peer_ref env, peer_ref *truth);

static peer_ref lookup(peer_ref symbol, peer_ref env) {
    for (; env != PEER_NONE; env = peer_slot(env, OUTER)) {
        if (peer_slot(env, SYMBOL) == symbol) {
            return peer_slot(env, BOUND);
        }
    }
    return peer_slot(symbol, GLOBAL);
}

static inline peer_ref eval(peer_ref form, peer_ref env, peer_ref *truth) {
    if (form == PEER_NONE || peer_is(form, number)) {
        return form;
    }
    return peer_is(form, symbol) ? lookup(form, env) : eval_pair(form, env, truth);
}

static peer_ref nth(peer_ref list, unsigned n) {
    for (; n > 0; n--) {
        list = peer_slot(list, CDR);
    }
    return peer_slot(list, CAR);
}

static peer_ref make_closure(peer_ref parameters, peer_ref body, peer_ref env) {
    PEER_FRAME(local, 3);
    local[0] = parameters;
    local[1] = body;
    local[2] = env;
    peer_ref closure = PEER_NEW_VARIANT(closure);
    peer_slot_set(closure, PARAMETERS, local[0]);
    peer_slot_set(closure, BODY, local[1]);
    peer_slot_set(closure, DEFINED_IN, local[2]);
    return closure;
}

/* Calls a function of the language, of one or two arguments. */
static peer_ref apply(int64_t op, peer_ref form, peer_ref env, peer_ref *truth) {
    PEER_FRAME(local, 3);
    local[0] = form;
    local[1] = env;
    local[2] = eval(nth(form, 1), env, truth);
    if (op >= CAR_OF) {
        return op == IS_NULL ? (local[2] == PEER_NONE ? *truth : PEER_NONE)
                             : peer_slot(local[2], op == CAR_OF ? CAR : CDR);
    }
    peer_ref second = eval(nth(local[0], 2), local[1], truth);
    if (op == CONS) {
        return cons(local[2], second);
    }
    int64_t a = peer_int(local[2], N), b = peer_int(second, N);
    if (op == LESS || op == EQUAL) {
        return (op == LESS ? a < b : a == b) ? *truth : PEER_NONE;
    }
    return make_number(op == ADD ? a + b : a - b);
}

/* Returns the environment of a call: the closure's, extended by a binding for each parameter. */
static peer_ref bind(peer_ref closure, peer_ref form, peer_ref env, peer_ref *truth) {
    enum { PARAMETER, ARGUMENT, ENV, INNER, VALUE };
    PEER_FRAME(local, 5);
    local[PARAMETER] = peer_slot(closure, PARAMETERS);
    local[ARGUMENT] = peer_slot(form, CDR);
    local[ENV] = env;
    local[INNER] = peer_slot(closure, DEFINED_IN);
    while (local[PARAMETER] != PEER_NONE) {
        local[VALUE] = eval(peer_slot(local[ARGUMENT], CAR), local[ENV], truth);
        peer_ref binding = PEER_NEW(binding);
        peer_slot_set(binding, SYMBOL, peer_slot(local[PARAMETER], CAR));
        peer_slot_set(binding, BOUND, local[VALUE]);
        peer_slot_set(binding, OUTER, local[INNER]);
        local[INNER] = binding;
        local[PARAMETER] = peer_slot(local[PARAMETER], CDR);
        local[ARGUMENT] = peer_slot(local[ARGUMENT], CDR);
    }
    return local[INNER];
}

static peer_ref define(peer_ref form) {
    PEER_FRAME(local, 1);
    local[0] = form;
    peer_ref closure = make_closure(peer_slot(nth(form, 1), CDR), nth(form, 2), PEER_NONE);
    peer_slot_set(nth(nth(local[0], 1), 0), GLOBAL, closure);
    return PEER_NONE;
}

static peer_ref eval_pair(peer_ref form, peer_ref env, peer_ref *truth) {
    enum { FORM, ENV, FUNCTION };
    PEER_FRAME(local, 3);
    local[FORM] = form;
    local[ENV] = env;
    for (;;) {
        form = local[FORM];
        if (form == PEER_NONE || !peer_is(form, pair)) {
            return eval(form, local[ENV], truth);
        }
        peer_ref head = peer_slot(form, CAR);
        int64_t op = peer_is(head, symbol) ? peer_int(head, OPERATOR) : CALL;
        if (op >= ADD) {
            return apply(op, form, local[ENV], truth);
        }
        if (op == IF) {
            bool is_true = eval(nth(form, 1), local[ENV], truth) != PEER_NONE;
            local[FORM] = nth(local[FORM], is_true ? 2 : 3);
        } else if (op == CALL) {
            local[FUNCTION] = eval(head, local[ENV], truth);
            local[ENV] = bind(local[FUNCTION], local[FORM], local[ENV], truth);
            local[FORM] = peer_slot(local[FUNCTION], BODY);
        } else {
            return op == DEFINE ? define(form) : make_closure(nth(form, 1), nth(form, 2), local[ENV]);
        }
    }
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    if (file == NULL || text == NULL || fread(text, 1, (1 << 16) - 1, file) == 0) {
        peer_die(1, "lisp: the file can't be read");
    }
    fclose(file);
    return text;
}

static uint32_t run(char **arguments) {
    PEER_DEFINE(number);
    PEER_DEFINE(pair);
    PEER_DEFINE(closure);
    PEER_DEFINE(symbol);
    PEER_DEFINE(binding);
    enum { FORMS, SYMBOLS, TRUTH };
    PEER_FRAME(local, 3);
    char *text = read_file(arguments[0]);
    const char *at = text;
    local[TRUTH] = intern(&local[SYMBOLS], "t");
    peer_slot_set(local[TRUTH], GLOBAL, local[TRUTH]);
    local[FORMS] = read_list(&at, &local[SYMBOLS]);
    free(text);
    uint32_t checksum = 0;
    PEER_FRAME(rest, 1);
    for (uint32_t i = peer_number(arguments, 1); i > 0; i--) {
        for (rest[0] = local[FORMS]; rest[0] != PEER_NONE; rest[0] = peer_slot(rest[0], CDR)) {
            peer_ref value = eval(peer_slot(rest[0], CAR), PEER_NONE, &local[TRUTH]);
            if (value != PEER_NONE && peer_is(value, number)) {
                checksum = peer_mix(checksum, peer_int(value, N));
            }
        }
    }
    return checksum;
}

int main(int argc, char **argv) { return peer_main(argc, argv, 2, "lisp FILE REPEAT", run); }
