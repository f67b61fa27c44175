// Sends a file: with the call where it is small, in parts before it where it is large.

import { api } from '../../api/client.ts';
import { newRequestKey } from '../../api/request-key.ts';

const withCallMax = 7_000_000;
const partBytes = 6_000_000;

export type SentFile = { content: string } | { uploadID: string };

export async function sendFile(
  content: Blob,
  onProgress: (share: number) => void,
): Promise<SentFile> {
  if (content.size <= withCallMax) return { content: await content.text() };
  const uploadID = newRequestKey();
  const parts = Math.ceil(content.size / partBytes);
  for (let part = 0; part < parts; part += 1) {
    const piece = content.slice(part * partBytes, (part + 1) * partBytes);
    const last = part === parts - 1;
    await api.uploadPart({ uploadID, partNo: part + 1, contentBase64: await base64(piece), last });
    onProgress((part + 1) / parts);
  }
  return { uploadID };
}

function base64(piece: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(piece);
  });
}
