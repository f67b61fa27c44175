// The part of pdfkit that makes objects of a file, under names of our own.

export type Reference = {
  readonly id: number;
  data: Record<string, unknown>;
  write(chunk: Uint8Array | string): void;
  end(chunk?: Uint8Array | string): void;
};

/** In data, text is a name, a String object is text, and a Reference points to its object. */
export type PdfObjects = { ref(data: Record<string, unknown>): Reference };

/** What is already in the form of a PDF: pdfkit writes what it does not know by its text. */
export function written(text: string): unknown {
  return { [Symbol.toStringTag]: 'Written', toString: () => text };
}
