/* Preprocessor helper: apply a macro to each of 1 to 16 arguments.
 *
 * Only the lists of probes/ use it. A list entry holds a variable number of argument descriptions, each a
 * parenthesised tuple (name, kind, "documentation"); EDEN_EACH(M, t1, t2, ...) expands to M t1 M t2 ...
 * and EDEN_EACH_COMMA puts commas between. A function cannot declare parameters, so this must be a macro. */
#ifndef EDEN_FOREACH_H
#define EDEN_FOREACH_H

#define EDEN_EACH_1(M, a) M a
#define EDEN_EACH_2(M, a, ...) M a EDEN_EACH_1(M, __VA_ARGS__)
#define EDEN_EACH_3(M, a, ...) M a EDEN_EACH_2(M, __VA_ARGS__)
#define EDEN_EACH_4(M, a, ...) M a EDEN_EACH_3(M, __VA_ARGS__)
#define EDEN_EACH_5(M, a, ...) M a EDEN_EACH_4(M, __VA_ARGS__)
#define EDEN_EACH_6(M, a, ...) M a EDEN_EACH_5(M, __VA_ARGS__)
#define EDEN_EACH_7(M, a, ...) M a EDEN_EACH_6(M, __VA_ARGS__)
#define EDEN_EACH_8(M, a, ...) M a EDEN_EACH_7(M, __VA_ARGS__)
#define EDEN_EACH_9(M, a, ...) M a EDEN_EACH_8(M, __VA_ARGS__)
#define EDEN_EACH_10(M, a, ...) M a EDEN_EACH_9(M, __VA_ARGS__)
#define EDEN_EACH_11(M, a, ...) M a EDEN_EACH_10(M, __VA_ARGS__)
#define EDEN_EACH_12(M, a, ...) M a EDEN_EACH_11(M, __VA_ARGS__)
#define EDEN_EACH_13(M, a, ...) M a EDEN_EACH_12(M, __VA_ARGS__)
#define EDEN_EACH_14(M, a, ...) M a EDEN_EACH_13(M, __VA_ARGS__)
#define EDEN_EACH_15(M, a, ...) M a EDEN_EACH_14(M, __VA_ARGS__)
#define EDEN_EACH_16(M, a, ...) M a EDEN_EACH_15(M, __VA_ARGS__)

#define EDEN_EACHC_1(M, a) M a
#define EDEN_EACHC_2(M, a, ...) M a, EDEN_EACHC_1(M, __VA_ARGS__)
#define EDEN_EACHC_3(M, a, ...) M a, EDEN_EACHC_2(M, __VA_ARGS__)
#define EDEN_EACHC_4(M, a, ...) M a, EDEN_EACHC_3(M, __VA_ARGS__)
#define EDEN_EACHC_5(M, a, ...) M a, EDEN_EACHC_4(M, __VA_ARGS__)
#define EDEN_EACHC_6(M, a, ...) M a, EDEN_EACHC_5(M, __VA_ARGS__)
#define EDEN_EACHC_7(M, a, ...) M a, EDEN_EACHC_6(M, __VA_ARGS__)
#define EDEN_EACHC_8(M, a, ...) M a, EDEN_EACHC_7(M, __VA_ARGS__)
#define EDEN_EACHC_9(M, a, ...) M a, EDEN_EACHC_8(M, __VA_ARGS__)
#define EDEN_EACHC_10(M, a, ...) M a, EDEN_EACHC_9(M, __VA_ARGS__)
#define EDEN_EACHC_11(M, a, ...) M a, EDEN_EACHC_10(M, __VA_ARGS__)
#define EDEN_EACHC_12(M, a, ...) M a, EDEN_EACHC_11(M, __VA_ARGS__)
#define EDEN_EACHC_13(M, a, ...) M a, EDEN_EACHC_12(M, __VA_ARGS__)
#define EDEN_EACHC_14(M, a, ...) M a, EDEN_EACHC_13(M, __VA_ARGS__)
#define EDEN_EACHC_15(M, a, ...) M a, EDEN_EACHC_14(M, __VA_ARGS__)
#define EDEN_EACHC_16(M, a, ...) M a, EDEN_EACHC_15(M, __VA_ARGS__)

#define EDEN_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, n, ...) n
#define EDEN_COUNT(...) EDEN_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

#define EDEN_PASTE_(a, b) a##b
#define EDEN_PASTE(a, b) EDEN_PASTE_(a, b)
#define EDEN_EACH(M, ...) EDEN_PASTE(EDEN_EACH_, EDEN_COUNT(__VA_ARGS__))(M, __VA_ARGS__)
#define EDEN_EACH_COMMA(M, ...) EDEN_PASTE(EDEN_EACHC_, EDEN_COUNT(__VA_ARGS__))(M, __VA_ARGS__)

#endif
