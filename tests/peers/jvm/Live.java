import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import eu.neverblink.jelly.core.JellyOptions;
import eu.neverblink.jelly.core.proto.v1.RdfStreamFrame;
import eu.neverblink.jelly.core.proto.v1.RdfStreamOptions;
import eu.neverblink.jelly.core.proto.v1.RdfStreamRow;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.reflection.v1alpha.ServerReflectionGrpc;
import io.grpc.reflection.v1alpha.ServerReflectionRequest;
import io.grpc.reflection.v1alpha.ServerReflectionResponse;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A Jelly gRPC client and server with a line protocol. Frames use the classes of jelly-core. The other
 * messages are encoded and decoded here.
 *
 * <p>Input: one request per line on standard input, with tab-separated fields:
 *
 * <ul>
 *   <li>subscribe, port, topic, options, file, number of frames or -1, pause in ms: writes the frames
 *       with length prefixes. With -1, the subscription ends at the end of the topic. Options are "-"
 *       for none, the name of a preset of Jelly-JVM and a physical type ("SMALL_STRICT/2"), or the
 *       bytes in hexadecimal.
 *   <li>publish, port, topic, file, token, "gzip" or "-": sends the frames of a file.
 *   <li>serve, file, folder: a server that sends the frames of the file, and stores each publication
 *       in the folder.
 *   <li>services, port: the names of the services, by reflection.
 * </ul>
 *
 * <p>Output: one line with "OK" or another status, followed by a number, text or names.
 */
public final class Live {
  private static final String SERVICE = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService";
  private static final int MAX_BYTES = 64 << 20;

  private static final MethodDescriptor.Marshaller<byte[]> BYTES =
      new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
          return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
          try {
            return stream.readAllBytes();
          } catch (IOException error) {
            throw Status.INTERNAL.withCause(error).asRuntimeException();
          }
        }
      };

  private static final MethodDescriptor.Marshaller<RdfStreamFrame> FRAMES =
      new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(RdfStreamFrame value) {
          return new ByteArrayInputStream(value.toByteArray());
        }

        @Override
        public RdfStreamFrame parse(InputStream stream) {
          try {
            return RdfStreamFrame.parseFrom(stream);
          } catch (IOException error) {
            throw Status.INTERNAL.withCause(error).asRuntimeException();
          }
        }
      };

  private static final MethodDescriptor<byte[], RdfStreamFrame> SUBSCRIBE =
      MethodDescriptor.newBuilder(BYTES, FRAMES)
          .setType(MethodDescriptor.MethodType.SERVER_STREAMING)
          .setFullMethodName(SERVICE + "/SubscribeRdf")
          .build();
  private static final MethodDescriptor<RdfStreamFrame, byte[]> PUBLISH =
      MethodDescriptor.newBuilder(FRAMES, BYTES)
          .setType(MethodDescriptor.MethodType.CLIENT_STREAMING)
          .setFullMethodName(SERVICE + "/PublishRdf")
          .build();

  public static void main(String[] arguments) throws Exception {
    var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = requests.readLine()) != null; ) {
      System.out.println(answer(line.split("\t", -1)));
      System.out.flush();
    }
    System.exit(0);
  }

  private static String answer(String[] fields) throws Exception {
    try {
      return switch (fields[0]) {
        case "subscribe" -> subscribe(fields);
        case "publish" -> publish(fields);
        case "serve" -> serve(fields);
        case "services" -> services(fields);
        default -> "UNKNOWN " + fields[0];
      };
    } catch (StatusRuntimeException error) {
      return error.getStatus().getCode() + " " + error.getStatus().getDescription();
    }
  }

  private static ManagedChannel channel(String port) {
    return NettyChannelBuilder.forAddress("localhost", Integer.parseInt(port))
        .usePlaintext()
        .maxInboundMessageSize(MAX_BYTES)
        .build();
  }

  private static Metadata metadata(String name, String value) {
    var metadata = new Metadata();
    metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    return metadata;
  }

  private static String subscribe(String[] fields) throws Exception {
    var request = request(fields[2], options(fields[3]));
    int wanted = Integer.parseInt(fields[5]);
    long pause = Long.parseLong(fields[6]);
    var channel = channel(fields[1]);
    int count = 0;
    try (var out = new BufferedOutputStream(Files.newOutputStream(Path.of(fields[4])))) {
      var follow = MetadataUtils.newAttachHeadersInterceptor(
          metadata("rdfm-follow", String.valueOf(wanted >= 0)));
      var frames =
          ClientCalls.blockingServerStreamingCall(
              ClientInterceptors.intercept(channel, follow),
              SUBSCRIBE,
              CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS),
              request);
      while (count != wanted && frames.hasNext()) {
        frames.next().writeDelimitedTo(out);
        count++;
        Thread.sleep(pause);
      }
    } finally {
      channel.shutdownNow();
    }
    return "OK " + count;
  }

  private static byte[] request(String topic, RdfStreamOptions options) throws IOException {
    var bytes = new ByteArrayOutputStream();
    var out = CodedOutputStream.newInstance(bytes);
    out.writeString(1, topic);
    if (options != null) {
      out.writeByteArray(2, options.toByteArray());
    }
    out.flush();
    return bytes.toByteArray();
  }

  private static RdfStreamOptions options(String text) throws Exception {
    if (text.equals("-")) {
      return null;
    }
    int slash = text.indexOf('/');
    if (slash < 0) {
      return RdfStreamOptions.parseFrom(HexFormat.of().parseHex(text));
    }
    var preset = (RdfStreamOptions) JellyOptions.class.getField(text.substring(0, slash)).get(null);
    return RdfStreamOptions.newInstance()
        .copyFrom(preset)
        .setPhysicalTypeValue(Integer.parseInt(text.substring(slash + 1)));
  }

  private static String publish(String[] fields) throws Exception {
    var channel = channel(fields[1]);
    var token =
        MetadataUtils.newAttachHeadersInterceptor(metadata("authorization", "Bearer " + fields[4]));
    var options = CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS);
    if (fields[5].equals("gzip")) {
      options = options.withCompression("gzip");
    }
    var done = new CountDownLatch(1);
    var failure = new AtomicReference<Throwable>();
    int count = 0;
    try (var in = new BufferedInputStream(Files.newInputStream(Path.of(fields[3])))) {
      var call = ClientInterceptors.intercept(channel, token).newCall(PUBLISH, options);
      var requests =
          ClientCalls.asyncClientStreamingCall(
              call,
              new StreamObserver<byte[]>() {
                @Override
                public void onNext(byte[] received) {
                  if (received.length > 0) {
                    failure.set(new IOException("RdfStreamReceived is not empty"));
                  }
                }

                @Override
                public void onError(Throwable error) {
                  failure.set(error);
                  done.countDown();
                }

                @Override
                public void onCompleted() {
                  done.countDown();
                }
              });
      for (RdfStreamFrame frame; (frame = RdfStreamFrame.parseDelimitedFrom(in)) != null; ) {
        name(frame, fields[2]);
        requests.onNext(frame);
        count++;
      }
      requests.onCompleted();
      done.await();
    } finally {
      channel.shutdownNow();
    }
    if (failure.get() instanceof StatusRuntimeException error) {
      throw error;
    }
    return failure.get() == null ? "OK " + count : "UNKNOWN " + failure.get();
  }

  /** Sets the stream name in the options of a frame. */
  private static void name(RdfStreamFrame frame, String topic) {
    for (var row : frame.getRows()) {
      if (row.hasOptions()) {
        var options = RdfStreamOptions.newInstance().copyFrom(row.getOptions());
        ((RdfStreamRow.Mutable) row).setOptions(options.setStreamName(topic));
        row.resetCachedSize();
        frame.resetCachedSize();
      }
    }
  }

  private static String serve(String[] fields) throws Exception {
    List<RdfStreamFrame> frames = new ArrayList<>();
    try (var in = new BufferedInputStream(Files.newInputStream(Path.of(fields[1])))) {
      for (RdfStreamFrame frame; (frame = RdfStreamFrame.parseDelimitedFrom(in)) != null; ) {
        frames.add(frame);
      }
    }
    var folder = Path.of(fields[2]);
    var number = new AtomicInteger();
    var service =
        ServerServiceDefinition.builder(SERVICE)
            .addMethod(
                SUBSCRIBE,
                ServerCalls.asyncServerStreamingCall(
                    (byte[] request, StreamObserver<RdfStreamFrame> responses) ->
                        send(request, frames, responses)))
            .addMethod(
                PUBLISH,
                ServerCalls.asyncClientStreamingCall(
                    responses -> store(folder.resolve(String.valueOf(number.getAndIncrement())), responses)))
            .build();
    Server server =
        NettyServerBuilder.forPort(0)
            .addService(service)
            .addService(new HealthStatusManager().getHealthService())
            .maxInboundMessageSize(MAX_BYTES)
            .build()
            .start();
    return "OK " + server.getPort();
  }

  /** Sends frames when the client is ready, to topics other than "none". */
  private static void send(
      byte[] request, List<RdfStreamFrame> frames, StreamObserver<RdfStreamFrame> responses) {
    var observer = (ServerCallStreamObserver<RdfStreamFrame>) responses;
    if (topic(request).equals("none")) {
      observer.onError(Status.NOT_FOUND.withDescription("no topic none").asRuntimeException());
      return;
    }
    var frame = frames.iterator();
    var ended = new boolean[1];
    observer.setOnReadyHandler(
        () -> {
          while (observer.isReady() && frame.hasNext()) {
            observer.onNext(frame.next());
          }
          if (!frame.hasNext() && !ended[0]) {
            ended[0] = true;
            observer.onCompleted();
          }
        });
  }

  private static String topic(byte[] request) {
    try {
      var in = CodedInputStream.newInstance(request);
      for (int tag; (tag = in.readTag()) != 0; ) {
        if (tag == 10) {
          return in.readString();
        }
        in.skipField(tag);
      }
      return "";
    } catch (IOException error) {
      throw Status.INVALID_ARGUMENT.withCause(error).asRuntimeException();
    }
  }

  private static StreamObserver<RdfStreamFrame> store(Path file, StreamObserver<byte[]> responses) {
    var bytes = new ByteArrayOutputStream();
    return new StreamObserver<>() {
      @Override
      public void onNext(RdfStreamFrame frame) {
        try {
          frame.writeDelimitedTo(bytes);
        } catch (IOException error) {
          throw Status.INTERNAL.withCause(error).asRuntimeException();
        }
      }

      @Override
      public void onError(Throwable error) {}

      @Override
      public void onCompleted() {
        try {
          Files.write(file, bytes.toByteArray());
        } catch (IOException error) {
          responses.onError(Status.INTERNAL.withCause(error).asRuntimeException());
          return;
        }
        responses.onNext(new byte[0]);
        responses.onCompleted();
      }
    };
  }

  private static String services(String[] fields) throws Exception {
    var channel = channel(fields[1]);
    var found = new ArrayList<String>();
    var done = new CountDownLatch(1);
    try {
      var requests =
          ServerReflectionGrpc.newStub(channel)
              .withDeadlineAfter(20, TimeUnit.SECONDS)
              .serverReflectionInfo(
                  new StreamObserver<ServerReflectionResponse>() {
                    @Override
                    public void onNext(ServerReflectionResponse response) {
                      response
                          .getListServicesResponse()
                          .getServiceList()
                          .forEach(service -> found.add(service.getName()));
                    }

                    @Override
                    public void onError(Throwable error) {
                      found.add(error.toString());
                      done.countDown();
                    }

                    @Override
                    public void onCompleted() {
                      done.countDown();
                    }
                  });
      requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
      requests.onCompleted();
      done.await();
    } finally {
      channel.shutdownNow();
    }
    return "OK " + String.join(" ", found);
  }
}
