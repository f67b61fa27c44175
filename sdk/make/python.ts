// The Python client: one module, made from the description of the API, without other packages.
import { type Described, isNullable, isRequired, type Schema } from './description.ts';

/** Types that were written, by name; Python has no types inside types. */
type Written = Map<string, string>;

export function pythonModule(operations: readonly Described[]): string {
  const written: Written = new Map();
  const methods = operations.map((operation) => methodOf(operation, written));
  return `${head}
${[...written.values()].join('\n\n')}

${client}
${methods.join('\n\n')}
`;
}

const head = `"""A client for the Billwright API. Made from its description."""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar
from urllib.parse import urlsplit

Data = TypeVar("Data")


@dataclass
class Reply(Generic[Data]):
    """A successful answer."""

    message: str
    data: Data
    headers: dict[str, str]


class BillingError(Exception):
    """The server refused the call."""

    def __init__(self, status_code: int, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.status_code = status_code
        self.error = error

    @property
    def code(self) -> str:
        return str(self.error["code"])

    @property
    def field(self) -> str | None:
        return self.error.get("field")

`;

const client = `
class Client:
    """One method for each operation.

    base_url has the workspace as its first label, such as https://acme.example.com.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = 60,
    ) -> None:
        self._url = urlsplit(base_url.rstrip("/"))
        self._headers = headers or {}
        self._timeout = timeout
        self.token = token

    def _connect(self) -> http.client.HTTPConnection:
        host = self._url.hostname or "localhost"
        if self._url.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                host, self._url.port, timeout=self._timeout, context=context
            )
        # Every name below localhost is this machine; some systems do not know the name.
        address = "127.0.0.1" if host.endswith(".localhost") else host
        return http.client.HTTPConnection(address, self._url.port, timeout=self._timeout)

    def _call(
        self,
        route: tuple[str, str, str],
        body: dict[str, Any],
        idempotency_key: str | None,
    ) -> Reply[Any]:
        path, method, action = route
        headers = {"Content-Type": "application/json", "Host": self._url.netloc, **self._headers}
        if self.token is not None:
            headers["Authorization"] = self.token
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        words = {"method": method, "action": action, "apiVersion": "v2"}
        sent = json.dumps({**words, **body}).encode()
        connection = self._connect()
        try:
            connection.request("POST", self._url.path + path, sent, headers)
            response = connection.getresponse()
            content = response.read()
            received = dict(response.getheaders())
        finally:
            connection.close()
        try:
            envelope = json.loads(content)
        except ValueError:
            envelope = None
        if not isinstance(envelope, dict) or "success" not in envelope:
            raise ConnectionError(f"not an answer of the billing service: {response.status}")
        if not envelope["success"]:
            raise BillingError(envelope["statusCode"], envelope["error"])
        return Reply(envelope["message"], envelope["data"], received)
`;

function methodOf(operation: Described, written: Written): string {
  const { name, path, method, action, summary, request, data } = operation;
  const owner = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const fields = Object.entries(request.properties ?? {});
  const ordered = [
    ...fields.filter(([field]) => isRequired(request, field)),
    ...fields.filter(([field]) => !isRequired(request, field)),
  ];
  const parameters = ordered.map(([field, schema]) => {
    const type = typeOf(schema, `${owner}${capital(field)}`, written);
    if (isRequired(request, field)) return `${field}: ${type}`;
    return `${field}: ${isNullable(schema) ? type : `${type} | None`} = None`;
  });
  const result = `Reply[${typeOf(data, `${owner}Data`, written)}]`;
  const signature = ['self', ...(ordered.length > 0 ? ['*'] : []), ...parameters];
  const key = `${ordered.length > 0 ? '' : '*, '}idempotency_key: str | None = None`;
  const body = ordered.map(([field]) => bodyLine(request, field));
  const words = [path, method, action].map((word) => JSON.stringify(word));
  return `    def ${snake(name)}(
        ${[...signature, key].join(',\n        ')},
    ) -> ${result}:
        """${summary.replaceAll('"', "'")}"""
        body: dict[str, Any] = {}
${body.join('')}        route = (${words.join(', ')})
        return self._call(route, body, idempotency_key)`;
}

/** A field that may be null is sent as null only where it must be sent. */
function bodyLine(request: Schema, field: string): string {
  const line = `body[${JSON.stringify(field)}] = ${field}\n`;
  if (isRequired(request, field)) return `        ${line}`;
  return `        if ${field} is not None:\n            ${line}`;
}

function typeOf(schema: Schema, name: string, written: Written): string {
  if ('const' in schema) return literal([schema.const]);
  if (schema.enum) return literal(schema.enum);
  if (schema.anyOf) {
    return unite(schema.anyOf.map((part, index) => typeOf(part, `${name}${index || ''}`, written)));
  }
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return 'Any';
  return unite(types.map((type) => typeOfOne(schema, type, { name, written })));
}

const plainTypes: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

function typeOfOne(
  schema: Schema,
  type: string,
  { name, written }: { name: string; written: Written },
): string {
  if (type === 'array') return `list[${typeOf(schema.items ?? {}, `${name}Item`, written)}]`;
  if (type !== 'object') return plainTypes[type] ?? 'Any';
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return 'dict[str, Any]';
  const rows = fields.map(([field, inner]) => {
    const found = typeOf(inner, `${name}${capital(field)}`, written);
    const type = isRequired(schema, field) ? `"${found}"` : `NotRequired["${found}"]`;
    return `        ${JSON.stringify(field)}: ${type},`;
  });
  written.set(name, `${name} = TypedDict(\n    "${name}",\n    {\n${rows.join('\n')}\n    },\n)`);
  return name;
}

function literal(values: readonly unknown[]): string {
  const words = values.filter((value) => value !== null).map(pythonValue);
  const parts = [...new Set(words)];
  const type = parts.length > 0 ? `Literal[${parts.join(', ')}]` : '';
  return unite([...(type ? [type] : []), ...(values.includes(null) ? ['None'] : [])]);
}

function pythonValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value).replaceAll('"', "'");
}

function unite(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function capital(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
