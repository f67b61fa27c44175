// The types of the npm package: one for the request and one for the data of each operation.
import { type Described, isRequired, type Schema } from './description.ts';

export function typeScriptTypes(operations: readonly Described[]): string {
  const types = operations.map(({ name, action, request, data }) =>
    [
      `/** What ${name} takes (${action}). */`,
      `export type ${typeName(name)}Request = ${typeOf(request, '')};`,
      `/** What ${name} returns. */`,
      `export type ${typeName(name)}Data = ${typeOf(data, '')};`,
    ].join('\n'),
  );
  const methods = operations.map(({ name, summary, request }) => {
    const isOptional = (request.required ?? []).length === 0;
    const body = `body${isOptional ? '?' : ''}: ${typeName(name)}Request`;
    const result = `Promise<Reply<${typeName(name)}Data>>`;
    return `${comment(summary, '  ')}  ${name}(${body}, options?: CallOptions): ${result};`;
  });
  return `// Made from the description of the API.
import type { CallOptions, ClientOptions, Reply } from './call.js';

export { BillingError } from './call.js';
export type { CallOptions, ClientOptions, ErrorBody, Reply } from './call.js';

${types.join('\n\n')}

/** One method for each operation. */
export type Client = {
${methods.join('\n')}
  /** Sends this token with every call; null sends none. */
  useToken(token: string | null): void;
};

export declare function createClient(options: ClientOptions): Client;
`;
}

function typeName(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function typeOf(schema: Schema, indent: string): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return unite(schema.anyOf.map((part) => typeOf(part, indent)));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return 'unknown';
  return unite(types.map((type) => typeOfOne(schema, type, indent)));
}

function typeOfOne(schema: Schema, type: string, indent: string): string {
  if (type === 'array') {
    const items = schema.items ?? {};
    const item = typeOf(items, indent);
    const isUnion = (items.anyOf ?? items.enum ?? [items.type].flat()).length > 1;
    return isUnion ? `(${item})[]` : `${item}[]`;
  }
  if (type === 'object') return objectType(schema, indent);
  return type === 'integer' ? 'number' : type;
}

function objectType(schema: Schema, indent: string): string {
  const fields = Object.entries(schema.properties ?? {});
  if (schema.properties === undefined) return 'Record<string, unknown>';
  if (fields.length === 0) return 'Record<string, never>';
  const inner = `${indent}  `;
  const rows = fields.map(([name, field]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = isRequired(schema, name) ? '' : '?';
    return `${comment(field.description, inner)}${inner}${key}${mark}: ${typeOf(field, inner)};`;
  });
  return `{\n${rows.join('\n')}\n${indent}}`;
}

function unite(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`;
}
