// CUDA C++ and PTX in colour, a line at a time, so that only what is on screen costs time.
import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";

hljs.registerLanguage("cpp", cpp);
hljs.registerLanguage("cuda", (api) => {
  const language = cpp(api);
  const keywords = language.keywords as Record<string, string[]>;
  return {
    ...language,
    keywords: {
      ...keywords,
      keyword: [
        ...keywords.keyword,
        ..."__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__ __forceinline__ __noinline__".split(
          " ",
        ),
      ],
      built_in: [
        ...keywords.built_in,
        ..."threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __shfl_down_sync __shfl_sync __shfl_xor_sync atomicAdd __ldg".split(
          " ",
        ),
      ],
    },
  };
});
hljs.registerLanguage("ptx", () => ({
  name: "ptx",
  contains: [
    { scope: "comment", begin: "//", end: "$" },
    { scope: "variable", begin: /%[a-zA-Z_]\w*/ },
    { scope: "keyword", begin: /\b[a-z][a-z0-9]*(\.[a-zA-Z0-9_:]+)+/ },
    { scope: "number", begin: /\b(0[xfd][0-9a-fA-F]+|\d+)\b/ },
  ],
}));

interface Token {
  scope?: string;
  children: (Token | string)[];
}

function render(token: Token | string): Node {
  if (typeof token === "string") return document.createTextNode(token);
  const out = token.scope ? document.createElement("span") : document.createDocumentFragment();
  if (token.scope && out instanceof HTMLElement) out.className = `hl-${token.scope.split(/[.-]/)[0]}`;
  for (const child of token.children) out.append(render(child));
  return out;
}

export function highlight(text: string, language: "cuda" | "ptx"): Node {
  if (text.length > 2000) return document.createTextNode(text);
  // The tree, not the markup: names and texts never become HTML.
  const result = hljs.highlight(text, { language, ignoreIllegals: true }) as unknown as {
    _emitter: { rootNode: Token };
  };
  return render(result._emitter.rootNode);
}

/** Lines that begin inside a comment of several lines. */
export function insideComments(lines: string[]): Uint8Array {
  const inside = new Uint8Array(lines.length);
  let open = false;
  for (let i = 0; i < lines.length; ++i) {
    inside[i] = open ? 1 : 0;
    const line = lines[i];
    if (!open && !line.includes("/*")) continue;
    for (let at = 0; at < line.length; ) {
      if (open) {
        const end = line.indexOf("*/", at);
        if (end < 0) break;
        open = false;
        at = end + 2;
      } else {
        const begin = line.indexOf("/*", at);
        const single = line.indexOf("//", at);
        if (begin < 0 || (single >= 0 && single < begin)) break;
        open = true;
        at = begin + 2;
      }
    }
  }
  return inside;
}

export function highlightLine(text: string, insideComment: boolean): Node {
  if (!insideComment) return highlight(text, "cuda");
  const end = text.indexOf("*/");
  const comment = document.createElement("span");
  comment.className = "hl-comment";
  comment.textContent = end < 0 ? text : text.slice(0, end + 2);
  const out = document.createDocumentFragment();
  out.append(comment);
  if (end >= 0) out.append(highlight(text.slice(end + 2), "cuda"));
  return out;
}
