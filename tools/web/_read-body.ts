/** Reads at most `maxBytes`, then closes the stream. `truncated` is true if there was more. */
export async function readBody(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly bytes: Uint8Array; readonly truncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    // Leaving the loop destroys a Node stream or cancels a web stream, which closes the connection.
    if (sizeBytes > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), truncated: sizeBytes > maxBytes };
}
