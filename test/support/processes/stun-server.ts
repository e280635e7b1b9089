import { createSocket } from "node:dgram";

// Answers STUN binding requests (RFC 8489) with the address that the request came from.

const MAGIC = 0x21_12_a4_42;
const [address = "", ...ports] = process.argv.slice(2);

for (const port of ports) {
  const socket = createSocket("udp4");
  socket.on("message", (request, from) => {
    const answer = Buffer.alloc(32);
    answer.writeUInt16BE(0x01_01, 0);
    answer.writeUInt16BE(12, 2);
    // The magic number and the transaction id.
    request.copy(answer, 4, 4, 20);
    // XOR-MAPPED-ADDRESS, IPv4.
    answer.writeUInt16BE(0x00_20, 20);
    answer.writeUInt16BE(8, 22);
    answer.writeUInt8(1, 25);
    answer.writeUInt16BE(from.port ^ (MAGIC >>> 16), 26);
    const ip = from.address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
    answer.writeUInt32BE((ip ^ MAGIC) >>> 0, 28);
    socket.send(answer, from.port, from.address);
  });
  socket.bind(Number(port), address);
}
