// The types of MTGP32, the Mersenne twister for graphics processors of Saito and Matsumoto ("Variants of Mersenne
// Twister Suitable for Graphic Processors", 2013), with exponent 11213: 351 words of state, 200 sets of parameters.
#ifndef CURAND_MTGP32_H
#define CURAND_MTGP32_H

#define MTGPDC_MEXP 11213
#define MTGPDC_N 351
#define MTGPDC_FLOOR_2P 256  // the numbers that may be drawn at once: none of them needs another
#define MTGPDC_CEIL_2P 512
#define MTGPDC_PARAM_TABLE mtgp32dc_params_fast_11213
#define MTGP32_STATE_SIZE 1024
#define MTGP32_STATE_MASK 1023
#define CURAND_NUM_MTGP32_PARAMS 200
#define TBL_SIZE 16

// One set of parameters.
struct mtgp32_params_fast {
  int mexp;
  int pos;  // the middle word of the recursion
  int sh1, sh2;
  unsigned int tbl[TBL_SIZE];          // of the recursion
  unsigned int tmp_tbl[TBL_SIZE];      // of the tempering
  unsigned int flt_tmp_tbl[TBL_SIZE];  // of the tempering to a float of [1, 2)
  unsigned int mask;                   // the bits of a state's first word that count
  unsigned char poly_sha1[21];         // SHA-1 of the characteristic polynomial
};
typedef struct mtgp32_params_fast mtgp32_params_fast_t;

// All sets, as kernels read them.
struct mtgp32_kernel_params {
  unsigned int pos_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned int param_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
  unsigned int temper_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
  unsigned int single_temper_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
  unsigned int sh1_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned int sh2_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned int mask[1];
};
typedef struct mtgp32_kernel_params mtgp32_kernel_params_t;

// A block's generator.
struct curandStateMtgp32 {
  unsigned int s[MTGP32_STATE_SIZE];  // a ring
  int offset;                         // where its 351 words begin
  int pIdx;                           // the set of parameters
  mtgp32_kernel_params_t* k;
};
typedef struct curandStateMtgp32 curandStateMtgp32_t;

#endif
