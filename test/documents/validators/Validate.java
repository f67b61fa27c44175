// Validates the files of a folder: *.ubl.xml and *.cii.xml by the rules of EN 16931, *.pdf as
// PDF/A-3b. Prints a line for each file and for each problem. Files named broken-* must have
// problems, and all others none; otherwise it exits with 1.
import com.helger.diver.api.coord.DVRCoordinate;
import com.helger.io.resource.FileSystemResource;
import com.helger.phive.api.execute.ValidationExecutionManager;
import com.helger.phive.api.executorset.ValidationExecutorSetRegistry;
import com.helger.phive.api.validity.IValidityDeterminator;
import com.helger.phive.en16931.EN16931Validation;
import com.helger.phive.xml.source.IValidationSourceXML;
import com.helger.phive.xml.source.ValidationSourceXML;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;

public class Validate {
  static final ValidationExecutorSetRegistry<IValidationSourceXML> rules =
      new ValidationExecutorSetRegistry<>();

  public static void main(String[] arguments) throws Exception {
    EN16931Validation.initEN16931(rules);
    VeraGreenfieldFoundryProvider.initialise();
    File[] files = new File(arguments[0]).listFiles();
    Arrays.sort(files);
    int wrong = 0;
    for (File file : files) {
      String name = file.getName();
      List<String> problems;
      if (name.endsWith(".pdf")) problems = pdfProblems(file);
      else if (name.endsWith(".xml")) problems = xmlProblems(file);
      else continue;
      System.out.println((problems.isEmpty() ? "valid   " : "INVALID ") + name);
      for (String problem : problems) System.out.println("        " + problem);
      if (problems.isEmpty() == name.startsWith("broken-")) wrong++;
    }
    System.out.println(wrong == 0 ? "As expected" : wrong + " files are not as expected");
    System.exit(wrong == 0 ? 0 : 1);
  }

  static List<String> xmlProblems(File file) throws IOException {
    var source = ValidationSourceXML.create(new FileSystemResource(file));
    var set = rules.getOfID(rulesFor(file));
    var results =
        ValidationExecutionManager.executeValidation(
            IValidityDeterminator.createDefault(), set, source, Locale.ENGLISH);
    List<String> problems = new ArrayList<>();
    // Warnings count as well.
    results.forEachFlattened(
        error -> {
          if (error.getErrorLevel().isGE(com.helger.diagnostics.error.level.EErrorLevel.WARN))
            problems.add(error.getAsString(Locale.ENGLISH));
        });
    return problems;
  }

  static DVRCoordinate rulesFor(File file) throws IOException {
    if (file.getName().endsWith(".cii.xml")) return EN16931Validation.VID_CII_1316;
    return Files.readString(file.toPath()).contains("<CreditNote ")
        ? EN16931Validation.VID_UBL_CREDIT_NOTE_1316
        : EN16931Validation.VID_UBL_INVOICE_1316;
  }

  static List<String> pdfProblems(File file) throws Exception {
    List<String> problems = new ArrayList<>();
    try (var parser = Foundries.defaultInstance().createParser(file, PDFAFlavour.PDFA_3_B);
        var validator =
            Foundries.defaultInstance().createValidator(PDFAFlavour.PDFA_3_B, false)) {
      var result = validator.validate(parser);
      result
          .getFailedChecks()
          .forEach((rule, count) -> problems.add(count + " times against " + rule));
      result.getTestAssertions().stream()
          .map(assertion -> assertion.getMessage())
          .distinct()
          .forEach(problems::add);
      if (!result.isCompliant() && problems.isEmpty()) problems.add("not compliant");
    }
    return problems;
  }
}
